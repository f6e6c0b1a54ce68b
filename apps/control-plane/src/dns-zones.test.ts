import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadConfig } from '@spout/runtime/config'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { controlPlaneConfig } from './config.ts'
import { openDnsZones } from './dns-zones.ts'

let secretFile: string
beforeAll(() => {
  secretFile = path.join(mkdtempSync(path.join(tmpdir(), 'spout-dns-zones-')), 'secret')
  writeFileSync(secretFile, 'c2VjcmV0\n')
})
afterAll(() => rmSync(path.dirname(secretFile), { recursive: true }))

const zone = (changes: object) => ({
  name: 'apps.example.org',
  host: '::1',
  keyName: 'Spout-Key',
  secretFile,
  ...changes,
})
const zonesOf = (...zones: readonly object[]) =>
  loadConfig(controlPlaneConfig, { set: [`dns.zones=${JSON.stringify(zones)}`] }).config.dns.zones

test('a zone has a port, an algorithm and a key whose secret is read from its file', () => {
  expect(zonesOf(zone({ name: 'Apps.Example.org.' }))).toMatchObject([
    { name: 'apps.example.org', port: 53, algorithm: 'hmac-sha256', keyName: 'spout-key' },
  ])
  expect(openDnsZones(zonesOf(zone({})))).toMatchObject([{ name: 'apps.example.org', serverText: '::1 port 53' }])
})

test.each([
  [[{ name: '*.example.org' }], /dns\.zones.*is a wildcard/s],
  [[{ name: 'example' }], /dns\.zones.*has no dot/s],
  [[{ algorithm: 'hmac-md5' }], /dns\.zones.*algorithm/s],
  [[{ keyName: 'a b' }], /dns\.zones.*is not a name such as/s],
  [[{}, {}], /dns\.zones.*names a zone twice/s],
])('%j is refused', (zones, reason) => expect(() => zonesOf(...zones.map(zone))).toThrow(reason))

test('a file without a secret is named', () => {
  writeFileSync(secretFile, 'not base64!\n')
  expect(() => openDnsZones(zonesOf(zone({})))).toThrow(
    `dns.zones[0].secretFile: ${secretFile} does not hold a secret in base64`,
  )
})
