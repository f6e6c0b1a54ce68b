import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readPage } from '@spout/server'
import { must, productUnit } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { architecture, buildPackages } from './build-packages.ts'
import { installedText } from './installed-text.ts'
import { PACKAGES } from './package-table.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')
const AT = { root: ROOT, version: '1.2.3', epochSeconds: 1_700_000_000 }
/** What every Debian has: its package manager is made of them. */
const EVERYWHERE = ['libc6', 'libgcc-s1', 'libstdc++6']

let directory: string
let files: readonly string[]

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-debs-'))
  files = await buildPackages(AT, path.join(directory, 'first'))
}, 400_000)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const named = (name: string): string => files.find((file) => path.basename(file).startsWith(`${name}_`)) ?? ''
const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Packages whose libraries a program is linked with. */
async function librariesOf(program: string): Promise<readonly string[]> {
  const needed = (await must(['readelf', '--dynamic', program])).matchAll(/\(NEEDED\).*\[(\S+)\]/g)
  const libraries = Array.from(needed, ([, name]) => `*/${name}`)
  const owners = (await must(['dpkg', '--search', ...libraries])).matchAll(/^([^:]+):\S+: /gm)
  return [...new Set(Array.from(owners, ([, name = '']) => name))].filter((name) => !EVERYWHERE.includes(name))
}

test('a commit gives the same bytes whoever builds it, and when', async () => {
  // Without the one that is Node.js, which takes the longest to compress.
  const before = process.umask(0o077)
  try {
    const again = await buildPackages(AT, path.join(directory, 'again'), PACKAGES.slice(1))
    expect(again.map(digest)).toEqual(files.slice(1).map(digest))
  } finally {
    process.umask(before)
  }
  const later = { ...AT, epochSeconds: AT.epochSeconds + 1 }
  const [connector = ''] = await buildPackages(later, path.join(directory, 'later'), PACKAGES.slice(-1))
  expect(digest(connector)).not.toBe(digest(named('spout-connector')))
})

test('each says what it needs: the runtime of its own version, and Debian’s packages', async () => {
  const field = async (name: string, word: string) => (await must(['dpkg-deb', '--field', named(name), word])).trim()
  expect(files.map((file) => path.basename(file))).toEqual(
    PACKAGES.map(({ name }) => `${name}_1.2.3_${architecture()}.deb`),
  )
  for (const { name } of PACKAGES.slice(1)) expect(await field(name, 'Depends')).toContain('spout (= 1.2.3)')
  const [runtime, node] = [await field('spout', 'Depends'), await field('spout-node', 'Depends')]
  for (const library of await librariesOf(process.execPath)) expect(runtime).toContain(library)
  const native = PACKAGES.flatMap((one) => one.native)
  expect(native).toHaveLength(5)
  for (const one of native)
    for (const library of await librariesOf(path.join(ROOT, 'native/build', one))) expect(node).toContain(library)
  // A checkout needs the same.
  const page = readFileSync(path.join(ROOT, 'docs/installing.md'), 'utf8')
  const installed = [...page.matchAll(/^# apt-get install (.*)$/gm)].flatMap(([, names = '']) => names.split(' '))
  expect(installed).toEqual(expect.arrayContaining([...(await librariesOf(process.execPath))]))
})

test('files belong to root, have usual modes, and no source map or path of this machine is among them', async () => {
  for (const file of files) {
    const listed = (await must(['dpkg-deb', '--contents', file])).trim().split('\n')
    for (const line of listed) expect(line).toMatch(/^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x) root\/root /)
    expect(listed.filter((line) => line.endsWith('.map'))).toEqual([])
    expect(listed.filter((line) => !/ \.\/((usr|etc)\/|$)/.test(line) && !/ \.\/(usr|etc)\/?$/.test(line))).toEqual([])
  }
  const tree = path.join(directory, 'node')
  await must(['dpkg-deb', '--extract', named('spout-node'), tree])
  const found = await must(['sh', '-c', 'grep -rlF "$1" "$2" || true', 'sh', ROOT, tree])
  expect(found).toBe('')
})

test('the control plane’s has the built web page, the others have not', async () => {
  for (const { name, page } of PACKAGES) {
    const listed = await must(['dpkg-deb', '--contents', named(name)])
    expect([name, listed.includes('./usr/lib/spout/dashboard/index.html')]).toEqual([name, page])
  }
  const tree = path.join(directory, 'page')
  await must(['dpkg-deb', '--extract', named('spout-control-plane'), tree])
  const files = readPage(path.join(tree, 'usr/lib/spout/dashboard'))
  const used = String(files?.get('index.html')?.content).match(/\/ui\/assets\/[^"]+/g) ?? []
  expect(used.length).toBeGreaterThan(0)
  for (const file of used) expect(files?.has(file.slice('/ui/'.length)), file).toBe(true)
  const licences = readFileSync(path.join(tree, 'usr/share/doc/spout-control-plane/copyright'), 'utf8')
  for (const name of ['react', 'react-dom']) expect(licences).toMatch(new RegExp(`^${name} \\d+\\.`, 'm'))
})

test('units are those of a checkout but for paths', async () => {
  const tree = path.join(directory, 'units')
  for (const name of ['spout-node', 'spout-control-plane']) await must(['dpkg-deb', '--extract', named(name), tree])
  for (const app of ['agent', 'control-plane'] as const) {
    const unit = productUnit(app)
    const text = readFileSync(path.join(tree, 'usr/lib/systemd/system', path.basename(unit.file)), 'utf8')
    const command = ['/usr/lib/spout/node', ...unit.nodeOptions, `/usr/lib/spout/${app}/main.js`]
    expect(text).toContain(`ExecStart=${command.join(' ')} --config /etc/spout/${app}.yaml\n`)
    expect(text.split('\n').length).toBe(readFileSync(unit.file, 'utf8').split('\n').length)
    expect(text).not.toContain('/opt/')
  }
  expect(() => installedText('ExecStart=/opt/spout/tools/x')).toThrow('/opt/spout/tools/x is not in a package')
})
