import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { documentedCommands } from '@spout/testkit/documented-commands'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { printed } from '../../testing/printed.ts'

const TESTDATA = path.join(import.meta.dirname, '../../../../../packages/metallb-import/src')
let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-import-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const run = (...args: readonly string[]) => printed('import', ...args)

it.each([
  ['keepalived-operator', 'router', ['AddressPool', 'NodeGroup', 'NodeGroup']],
  ['kube-vip', 'bgp', ['NodeGroup', 'BgpPeer', 'BgpPeer', 'BgpPeer']],
] as const)('%s: prints the objects of a file', async (project, sample, kinds) => {
  const text = await run(project, '-f', path.join(TESTDATA, project, `testdata/${sample}.in.yaml`))
  expect([...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind)).toEqual(kinds)
})

it('names file, document and field of what it cannot read', async () => {
  const file = path.join(directory, 'bad.yaml')
  writeFileSync(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubevip}\ndata: {cidr-global: here}\n')
  await expect(run('kube-vip', '-f', file)).rejects.toThrow(
    `${file}, document 1 (ConfigMap kubevip): data.cidr-global: `,
  )
  await expect(run('kube-vip')).rejects.toThrow("required option '-f, --file")
})

/** What the pages show: a file, and what becomes of it. */
const PAGES = [
  documentedCommands('migrating-from-keepalived-operator.md'),
  documentedCommands('migrating-from-kube-vip.md'),
]

it('prints what the pages show', async () => {
  for (const commands of PAGES) {
    expect(commands.map(({ command }) => command.split(' ')[0])).toEqual(['cat', 'spout'])
    for (const { command, printed } of commands) {
      const [, file] = /^cat (\S+)$/.exec(command) ?? []
      if (file !== undefined) {
        writeFileSync(path.join(directory, file), `${printed.join('\n')}\n`)
        continue
      }
      const words = command.replace(/^spout import /, '').split(' ')
      const said = await run(...words.map((word) => (word.endsWith('.yaml') ? path.join(directory, word) : word)))
      expect(said.replaceAll(`${directory}/`, '')).toBe(`${printed.join('\n')}\n`)
    }
  }
})
