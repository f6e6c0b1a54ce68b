import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { refusalOf, sealed, statementOf } from './provenance.ts'

const keys = () =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
const files = new Map([
  ['spout.tar', Buffer.from('image')],
  ['sbom.json', Buffer.from('{}')],
])
const build = {
  repository: 'https://example.org/spout',
  commit: 'a'.repeat(40),
  lockFile: Buffer.from('lock'),
  builder: 'https://example.org/builder',
  finishedAt: '2026-01-01T00:00:00Z',
}

test('verifies sealed files with the key, all or some', () => {
  const { privateKey, publicKey } = keys()
  const envelope = sealed(statementOf(files, build), privateKey)
  expect(refusalOf(envelope, files, publicKey)).toBeNull()
  expect(refusalOf(envelope, new Map([['sbom.json', Buffer.from('{}')]]), publicKey)).toBeNull()
})

test('another key, another file, a file more and another statement are refused with the reason', () => {
  const { privateKey, publicKey } = keys()
  const envelope = sealed(statementOf(files, build), privateKey)
  expect(refusalOf(envelope, files, keys().publicKey)).toBe('no signature is from this key')
  expect(refusalOf(envelope, new Map([['spout.tar', Buffer.from('other')]]), publicKey)).toMatch(
    /^spout\.tar is another file: its SHA-256 is [0-9a-f]{64}$/,
  )
  expect(refusalOf(envelope, new Map([['more', Buffer.from('')]]), publicKey)).toBe('more is not in the envelope')
  const changed = Buffer.from(JSON.stringify(statementOf(new Map(), build))).toString('base64')
  expect(refusalOf({ ...envelope, payload: changed }, files, publicKey)).toBe('no signature is from this key')
})

test('the statement names commit, lock file and builder', () => {
  expect(statementOf(files, build)).toMatchObject({
    subject: [
      { name: 'spout.tar' },
      { name: 'sbom.json', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ],
    predicate: {
      buildDefinition: {
        resolvedDependencies: [{ digest: { gitCommit: build.commit } }, { name: 'package-lock.json' }],
      },
      runDetails: { builder: { id: build.builder } },
    },
  })
})
