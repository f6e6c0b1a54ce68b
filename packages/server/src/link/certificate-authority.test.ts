import { execFileSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CertificateAuthority, nodeIdOf } from './certificate-authority.ts'

const NODE = '6f1c3b1e-6a4e-4c56-9f0b-000000000001'
let directory: string
let authority: CertificateAuthority

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'spout-ca-'))
  authority = await CertificateAuthority.open(directory)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const request = (...args: string[]): string =>
  execFileSync('openssl', ['req', '-new', '-nodes', '-keyout', '/dev/null', '-subj', '/CN=root/O=evil', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString()
const p256 = () => request('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256')

describe('CertificateAuthority', () => {
  test('is created once, with a key that only its owner can read, and leaves nothing else behind', async () => {
    const again = await CertificateAuthority.open(directory)
    expect(again.certificate).toBe(authority.certificate)
    expect(readdirSync(directory).sort()).toEqual(['ca.crt', 'ca.key'])
    expect(statSync(join(directory, 'ca.key')).mode & 0o777).toBe(0o600)
    const { ca, raw } = new X509Certificate(authority.certificate)
    expect(ca).toBe(true)
    expect(authority.pin).toBe(createHash('sha256').update(raw).digest('hex').slice(0, 32))
  })

  test('names the node in the certificate, whatever its request says', async () => {
    const { certificate, sha256 } = await authority.issueNode(p256(), NODE)
    const parsed = new X509Certificate(certificate)
    expect(nodeIdOf(parsed)).toBe(NODE)
    expect(parsed.subject).toBe('CN=Spout')
    expect(parsed.ca).toBe(false)
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(parsed.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(sha256).toBe(parsed.fingerprint256.replaceAll(':', '').toLowerCase())
  })

  test('a request cannot add names or rights', async () => {
    const csr = request(
      ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
      ...['-addext', 'subjectAltName=URI:spiffe://spout/node/6f1c3b1e-6a4e-4c56-9f0b-000000000002'],
      ...['-addext', 'basicConstraints=critical,CA:TRUE'],
    )
    const parsed = new X509Certificate((await authority.issueNode(csr, NODE)).certificate)
    expect(parsed.subjectAltName).toBe(`URI:spiffe://spout/node/${NODE}`)
    expect(parsed.ca).toBe(false)
  })

  test('server certificates name hosts and addresses, and carry the authority with them', async () => {
    const { certificate } = await authority.issueServer(['localhost', '127.0.0.1', '::1'])
    const leaf = new X509Certificate(certificate)
    expect(leaf.checkHost('localhost')).toBe('localhost')
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(certificate.endsWith(authority.certificate)).toBe(true)
    expect(nodeIdOf(leaf)).toBeNull()
  })

  test.each([
    ['no request', () => 'hello', 'is not a signed certificate request'],
    ['a certificate', () => authority.certificate, 'is not a signed certificate request'],
    ['a forged signature', () => forged(p256()), 'is not a signed certificate request'],
    ['a short RSA key', () => request('-newkey', 'rsa:1024'), 'holds a key that is too weak: use EC P-256'],
    ['an endless text', () => 'x'.repeat(20_000), 'is too long'],
  ])('%s is refused', async (_name, csr, reason) => {
    await expect(async () => authority.issueNode(csr(), NODE)).rejects.toMatchObject({
      code: 'InvalidField',
      params: { field: 'csr', reason },
    })
  })
})

/** The same request with one byte of its signature changed. */
function forged(pem: string): string {
  const body = pem.replaceAll(/-----[^-]+-----/g, '').replaceAll(/\s/g, '')
  const bytes = Buffer.from(body, 'base64')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
}
