import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { type Issue, issueCertificate, revocationList } from '@spout/testkit/tls'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCertificate } from './read-certificate.ts'
import { authorityWithoutList, storedLists } from './revocation-list.ts'

const NOW = Date.now()
const DAY_MS = 86_400_000
const authority = issueCertificate({ isAuthority: true })
const other = issueCertificate({ isAuthority: true })
const revoked = [1, 2].map(() => issueCertificate({ issuer: authority, names: ['c.example'] }))
const list = revocationList(authority, { revoked })
const read = (chain: string, nowMs = NOW) => readCertificate({ chain }, nowMs)
const refused = (chain: string, nowMs = NOW): string => {
  try {
    read(chain, nowMs)
  } catch (error) {
    if (error instanceof SpoutError) return error.message
    throw error
  }
  throw new Error('it was accepted')
}
const openssl = (args: readonly string[], input: string): string =>
  execFileSync('openssl', args, { input, stdio: 'pipe' }).toString()

describe('a list of revoked certificates', () => {
  test('is what OpenSSL says of it', () => {
    const { content, keyPem } = read(`\r\n${list.replaceAll('\n', '\r\n')}`)
    const says = openssl(['crl', '-noout', '-lastupdate', '-nextupdate', '-fingerprint', '-sha256'], list)
    const said = (name: RegExp): string => name.exec(says)![1]!
    expect(keyPem).toBeNull()
    expect(content).toMatchObject({
      chain: list,
      names: [],
      subject: '',
      issuer: new X509Certificate(authority.certificate).subject?.replaceAll('\n', ', '),
      notBefore: new Date(said(/lastUpdate=(.*)/)).toISOString(),
      notAfter: new Date(said(/nextUpdate=(.*)/)).toISOString(),
      fingerprint: said(/ingerprint=(.*)/)
        .replaceAll(':', '')
        .toLowerCase(),
      keyType: 'none',
    })
  })

  test('is stored with others, and all end with the first that ends', () => {
    const brief = revocationList(other, { days: 2 })
    const { chain, notAfter, issuer } = read(list + brief).content
    expect(chain).toBe(list + brief)
    expect(notAfter).toBe(read(brief).content.notAfter)
    expect(issuer).toBe(read(list).content.issuer)
  })

  test.each<[string, Issue]>([
    ['RSA', { newKey: 'rsa:2048' }],
    ['P-384', { newKey: 'P-384' }],
    ['Ed25519', { newKey: 'ed25519' }],
  ])('is known by the signature of an authority with a key of type %s', (_kind, given) => {
    const name = { isAuthority: true, commonName: 'same name' }
    const [one, namesake] = [issueCertificate({ ...given, ...name }), issueCertificate({ ...given, ...name })]
    const digest = given.newKey === 'ed25519' ? { digest: 'default' } : {}
    const own = storedLists(revocationList(one, digest))
    expect(authorityWithoutList(one.certificate, own)).toBeNull()
    expect(authorityWithoutList(namesake.certificate, own)).toBe('O=Spout test, CN=same name')
    expect(authorityWithoutList(one.certificate + other.certificate, own)).toMatch(/CN=test/)
    expect(authorityWithoutList(one.certificate, [])).toBe('O=Spout test, CN=same name')
  })

  test.each<[string, () => string, RegExp]>([
    ['a certificate behind it', () => list + authority.certificate, /block 2 is CERTIFICATE/],
    ['half a list', () => list.replace(/\n[^\n]+\n-----END/, '\n-----END'), /block 1 is not a readable list/],
    [
      'a certificate under its label',
      () => authority.certificate.replaceAll('CERTIFICATE', 'X509 CRL'),
      /not a readable/,
    ],
    ['SHA-1', () => revocationList(authority, { digest: 'sha1' }), /its signature is 1\.2\.840\.10045\.4\.1/],
    [
      'a delta',
      () => revocationList(authority, { extensions: ['2.5.29.27=critical,DER:020101'] }),
      /block 1 is a delta of a list/,
    ],
    [
      'a critical extension of its own',
      () => revocationList(authority, { extensions: ['1.2.3.4=critical,DER:0500'] }),
      /critical extension 1\.2\.3\.4/,
    ],
    ['more lists than there may be authorities', () => list.repeat(11), /has 11 lists: at most 10/],
    [
      'more than a node takes at run time',
      () => revocationList(authority, { extensions: [`1.2.3.4=DER:${'00'.repeat(12_000)}`] }),
      /is too large: lists may have 15000 bytes together as PEM/,
    ],
  ])('is refused with %s', (_what, chain, reason) => {
    expect(refused(chain())).toMatch(reason)
  })

  test('is refused when it has expired', () => {
    expect(refused(list, NOW + 31 * DAY_MS)).toMatch(/block 1: expired at/)
  })

  test('is refused where a bit of its signature is unused', () => {
    const der = Buffer.from(list.replaceAll(/-----[^-]+-----|\n/g, ''), 'base64')
    // The last bit string begins with the number of its unused bits, and holds a sequence.
    der[der.lastIndexOf(Buffer.from([0x00, 0x30]))] = 1
    const pem = `-----BEGIN X509 CRL-----\n${der.toString('base64').replaceAll(/.{1,64}/g, '$&\n')}-----END X509 CRL-----\n`
    expect(refused(pem)).toMatch(/block 1 is not a readable list/)
  })

  test('is refused with the field and no other error, whatever is damaged', () => {
    const der = Buffer.from(list.replaceAll(/-----[^-]+-----|\n/g, ''), 'base64')
    fc.assert(
      fc.property(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(der)
        damaged[at] = damaged[at]! ^ change
        const pem = `-----BEGIN X509 CRL-----\n${damaged.toString('base64').replaceAll(/.{1,64}/g, '$&\n')}-----END X509 CRL-----\n`
        try {
          const { chain } = read(pem).content
          expect(authorityWithoutList(authority.certificate, storedLists(chain))).not.toBeNull()
        } catch (error) {
          expect(error).toMatchObject({ code: 'InvalidField', params: { field: 'chain' } })
        }
      }),
    )
  })
})
