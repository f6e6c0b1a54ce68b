import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** The foreign packages that run in production. Each one is one more that an attacker could take over. */
const MOST_DIRECT = 10
/** Those that run in the web page, with the rights of whoever looks at it. */
const MOST_IN_PAGE = 8
const PAGE = 'apps/dashboard/package.json'

interface Entry {
  readonly version?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly link?: boolean
}
const read = <T>(file: string): T => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T
const lock = read<{ readonly packages: Readonly<Record<string, Entry>> }>('package-lock.json')
const installed = Object.entries(lock.packages).filter(
  ([at, { link }]) => at.includes('node_modules/') && link !== true,
)

test('every package has a strong hash and no install script', () => {
  expect(installed.length).toBeGreaterThan(100)
  for (const [at, { integrity, hasInstallScript }] of installed) {
    expect(integrity, at).toMatch(/^sha512-/)
    expect(hasInstallScript ?? false, at).toBe(false)
  }
})

test('every dependency is pinned exactly, and few run in production', () => {
  const direct = new Set<string>()
  const inPage = new Set<string>()
  for (const file of ['package.json', ...globSync('{apps,packages,packages/intents}/*/package.json', { cwd: ROOT })]) {
    type Kinds = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
    const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = read<Kinds>(file)
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
      expect(version, `${file}: ${name}`).toMatch(/^\d+\.\d+\.\d+$/)
    for (const name of Object.keys(dependencies))
      if (!name.startsWith('@spout/')) (file === PAGE ? inPage : direct).add(name)
  }
  expect(direct.size).toBeGreaterThan(0)
  expect(direct.size).toBeLessThanOrEqual(MOST_DIRECT)
  expect(inPage.size).toBeLessThanOrEqual(MOST_IN_PAGE)
})

test('package.json admits the pinned Node.js', () => {
  interface Manifest {
    readonly engines: { readonly node: string }
    readonly optionalDependencies: Readonly<Record<string, string>>
  }
  const { engines, optionalDependencies } = read<Manifest>('package.json')
  const pinned = [...new Set(Object.values(optionalDependencies))]
  expect(pinned).toEqual([process.versions.node])
  expect(engines.node).toBe(`>=${process.versions.node.split('.')[0]}`)
})
