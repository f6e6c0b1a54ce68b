import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { documentedCommands } from '@spout/testkit/documented-commands'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { printed } from '../../testing/printed.ts'

const TESTDATA = path.join(import.meta.dirname, '../../../../../packages/metallb-import/src/testdata')
let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-import-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const run = (...args: readonly string[]) => printed('import', 'metallb', ...args)
const kindsOf = (text: string) => [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind)

it('prints the objects of files and directories, and writes nothing', async () => {
  expect(kindsOf(await run('-f', path.join(TESTDATA, 'layer2.in.yaml')))).toEqual(['AddressPool', 'NodeGroup'])
  for (const name of ['layer2', 'as-kubectl-prints'])
    writeFileSync(path.join(directory, `${name}.yml`), readFileSync(path.join(TESTDATA, `${name}.in.yaml`)))
  writeFileSync(path.join(directory, 'notes.txt'), 'not: [read')
  const text = await run('-f', directory, '--dry-run')
  expect(kindsOf(text)).toEqual(['AddressPool', 'AddressPool', 'NodeGroup', 'NodeGroup', 'BgpPeer'])
  expect(text).toContain(
    `${path.join(directory, 'as-kubectl-prints.yml')}, document 2: ConfigMap config: is no configuration`,
  )
})

/** What docs/migrating-from-metallb.md converts. */
const DOCUMENTED = `
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: { name: public, namespace: metallb-system }
spec: { addresses: [198.51.100.200-198.51.100.210] }
---
apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata: { name: public, namespace: metallb-system }
spec: { ipAddressPools: [public] }
`

it('prints what the documentation shows', async () => {
  const COMMAND = 'spout import metallb '
  const file = path.join(directory, 'metallb.yaml')
  writeFileSync(file, DOCUMENTED)
  // The other commands are those of a take-over in a cluster, which an end-to-end test types.
  const typed = documentedCommands('migrating-from-metallb.md').filter(({ command }) => command.includes(' --file '))
  expect(typed).toHaveLength(1)
  for (const { command, printed } of typed) {
    expect(command).toMatch(new RegExp(`^${COMMAND}`))
    const words = command.slice(COMMAND.length).split(' ')
    const said = await run(...words.map((word) => (word === 'metallb.yaml' ? file : word)))
    expect(said.replaceAll(file, 'metallb.yaml')).toBe(`${printed.join('\n')}\n`)
  }
  rmSync(file)
})

it('names file, document and field of what it cannot read', async () => {
  const file = path.join(directory, 'bad.yaml')
  writeFileSync(
    file,
    'apiVersion: metallb.io/v1beta1\nkind: IPAddressPool\nmetadata: {name: a}\nspec: {addresses: [x]}\n',
  )
  await expect(run('-f', file)).rejects.toThrow(`${file}, document 1 (IPAddressPool a): spec.addresses[0]: `)
  await expect(run()).rejects.toThrow('name what to read')
  await expect(run('-f', file, '--no-dry-run')).rejects.toThrow('--no-dry-run needs --kubeconfig')
  await expect(run('--kubeconfig', path.join(directory, 'none'))).rejects.toThrow('cannot be read')
})

it('says why a file cannot be read, and which file is empty', async () => {
  const none = path.join(directory, 'none')
  await expect(run('-f', none)).rejects.toThrow(`${none}: no such file or directory`)
  await expect(run('-f', path.join(TESTDATA, 'layer2.in.yaml'), none)).rejects.toThrow(none)
  const odd = path.join(directory, 'odd')
  mkdirSync(path.join(odd, 'one.yaml'), { recursive: true })
  await expect(run('-f', odd)).rejects.toThrow(`${path.join(odd, 'one.yaml')}: illegal operation on a directory`)
  const empty = path.join(directory, 'empty')
  mkdirSync(empty)
  await expect(run('-f', empty)).rejects.toThrow(`${empty}: a directory without YAML or JSON files`)
  const blank = path.join(directory, 'blank')
  writeFileSync(blank, '')
  await expect(run('-f', blank)).rejects.toThrow(`${blank}: no manifest found`)
})
