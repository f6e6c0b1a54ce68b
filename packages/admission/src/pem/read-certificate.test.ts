import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { type Issue, type Issued, issueCertificate } from '@spout/testkit/tls'
import { describe, expect, test } from 'vitest'
import { readCertificate } from './read-certificate.ts'

const NOW = Date.now()
const DAY_MS = 86_400_000
const read = ({ certificate: chain, key }: Issued, nowMs = NOW) => readCertificate({ chain, key }, nowMs)
const refusal = (chain: string, key: string, nowMs = NOW): SpoutError => {
  try {
    readCertificate({ chain, key }, nowMs)
  } catch (error) {
    if (error instanceof SpoutError) return error
    throw error
  }
  throw new Error('it was accepted')
}

const root = issueCertificate({ isAuthority: true })
const middle = issueCertificate({ issuer: root, isAuthority: true })
const leaf = issueCertificate({ issuer: middle, names: ['A.example', '*.b.example'] })
const plain = issueCertificate({ names: ['a.example'] })
const openssl = (args: readonly string[], input: string): string =>
  execFileSync('openssl', args, { input, stdio: 'pipe' }).toString()
const certificates = (text: string): readonly X509Certificate[] =>
  text.split(/(?<=-----END CERTIFICATE-----\n)/).map((one) => new X509Certificate(one))

describe('what is read', () => {
  test('names, issuer, dates, kind of key and fingerprint', () => {
    const { content, keyPem } = read({ ...leaf, certificate: leaf.certificate + middle.certificate })
    const own = new X509Certificate(leaf.certificate)
    expect(content).toMatchObject({
      names: ['a.example', '*.b.example'],
      keyType: 'ecdsa-p256',
      issuer: own.issuer?.replaceAll('\n', ', '),
      notAfter: own.validToDate.toISOString(),
      fingerprint: own.fingerprint256.replaceAll(':', '').toLowerCase(),
    })
    expect(keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
    expect(content.chain).not.toContain('PRIVATE')
  })

  test('a chain in any order, with or without its root, comes out in order from the leaf', () => {
    const mixed = [root, leaf, middle].map(({ certificate }) => certificate).join('\r\n\n')
    const { chain } = readCertificate({ chain: mixed, key: leaf.key }, NOW).content
    expect(certificates(chain).map(({ fingerprint }) => fingerprint)).toEqual(
      [leaf, middle, root].map(({ certificate }) => new X509Certificate(certificate).fingerprint),
    )
  })

  test('another chain or key is another content, the same in other lines is not', () => {
    const id = (chain: string) => readCertificate({ chain, key: leaf.key }, NOW).content.contentId
    expect(id(leaf.certificate)).not.toBe(id(leaf.certificate + middle.certificate))
    expect(id(leaf.certificate)).toBe(id(leaf.certificate.replaceAll('\n', '\r\n')))
  })

  test.each<[string, Issue, string]>([
    ['RSA', { newKey: 'rsa:2048' }, 'rsa-2048'],
    ['P-384', { newKey: 'P-384' }, 'ecdsa-p384'],
    ['Ed25519', { newKey: 'ed25519' }, 'ed25519'],
  ])('keys of type %s', (_what, given, keyType) => {
    expect(read(issueCertificate({ names: ['a.example'], ...given })).content.keyType).toBe(keyType)
  })

  test.each<[string, Issue, readonly string[]]>([
    ['alternatives before a common name', { names: ['a.example'], commonName: 'b.example' }, ['a.example']],
    ['a common name alone', { commonName: 'Shop.Example' }, ['shop.example']],
    ['a common name that is no DNS name', { commonName: 'the shop' }, []],
    ['a common name with a newline and another', { commonName: 'a b\nCN=c.example' }, []],
    ['a mail address beside a common name', { alternatives: 'email:a@b.example', commonName: 'default' }, ['default']],
  ])('the names of one with %s', (_what, given, names) => {
    expect(read(issueCertificate(given)).content.names).toEqual(names)
  })

  test.each<[string, readonly string[], Issue]>([
    ['RSA', ['rsa', '-traditional'], { newKey: 'rsa:2048' }],
    ['EC', ['ec'], {}],
  ])('the older format of %s keys', (type, convert, given) => {
    const one = issueCertificate({ names: ['a.example'], ...given })
    const older = openssl(convert, one.key)
    expect(older).toContain(`BEGIN ${type} PRIVATE KEY`)
    expect(readCertificate({ chain: one.certificate, key: older }, NOW).keyPem).toBe(read(one).keyPem)
  })
})

const other = issueCertificate({ names: ['a.example'] })
const encrypted = openssl(['pkcs8', '-topk8', '-passout', 'pass:secret'], plain.key)
const oldEncrypted = openssl(['ec', '-aes128', '-passout', 'pass:secret'], plain.key)

describe('what is refused', () => {
  test.each<[string, string, string, string, RegExp]>([
    ['a key of another certificate', plain.certificate, other.key, 'key', /belongs to no certificate of the chain/],
    [
      'a stranger in the chain',
      plain.certificate + other.certificate,
      plain.key,
      'chain',
      /block 2 is not part of the chain/,
    ],
    ['a certificate twice', plain.certificate + plain.certificate, plain.key, 'chain', /twice/],
    ['text before a block', `subject=a\n${plain.certificate}`, plain.key, 'chain', /other text before the first block/],
    [
      'text between blocks',
      `${plain.certificate}x\n${other.certificate}`,
      plain.key,
      'chain',
      /other text after block 1/,
    ],
    ['a newline and a directive', `${plain.certificate}\n\nset ssl cert x\n`, plain.key, 'chain', /other text/],
    ['a key in the chain', plain.certificate + plain.key, plain.key, 'chain', /block 2 is PRIVATE KEY/],
    ['a certificate in the key', plain.certificate, plain.certificate, 'key', /is CERTIFICATE/],
    ['two keys', plain.certificate, plain.key + other.key, 'key', /more than one block/],
    ['an encrypted key', plain.certificate, encrypted, 'key', /encrypted/],
    ['an encrypted key of the older format', plain.certificate, oldEncrypted, 'key', /encrypted/],
    [
      'a broken key',
      plain.certificate,
      plain.key.replace(/\n.{20}/, `\n${'A'.repeat(20)}`),
      'key',
      /not a readable PRIVATE KEY/,
    ],
    ['half a block', plain.certificate.slice(0, 300), plain.key, 'chain', /not a complete PEM block/],
    ['half a certificate', plain.certificate.replace(/\n[^\n]+\n-----END/, '\n-----END'), plain.key, 'chain', /not/],
    ['no base64', plain.certificate.replace('MII', 'M=I'), plain.key, 'chain', /not base64/],
    ['another end', plain.certificate.replace('END CERTIFICATE', 'END X509 CRL'), plain.key, 'chain', /another label/],
    ['nothing', ' \n', plain.key, 'chain', /no PEM block/],
    ['much too much', plain.certificate.repeat(200), plain.key, 'chain', /too large/],
  ])('%s', (_what, chain, key, field, reason) => {
    const error = refusal(chain, key)
    expect(error).toMatchObject({ code: 'InvalidField', field })
    expect(error.message).toMatch(reason)
    for (const line of key.split('\n').filter((text) => text.length === 64)) expect(error.message).not.toContain(line)
  })

  test.each<[string, Issue, RegExp]>([
    ['RSA of 1024 bits', { newKey: 'rsa:1024' }, /1024 bits/],
    ['SHA-1', { newKey: 'rsa:2048', digest: 'sha1' }, /sha1WithRSAEncryption/],
    ['MD5', { newKey: 'rsa:2048', digest: 'md5' }, /md5WithRSAEncryption/],
    ['an unusual curve', { newKey: 'secp256k1' }, /secp256k1/],
    // dNSName a.example\0.evil.example
    [
      'U+0000 in a name',
      { alternatives: 'DER:30198217612E6578616D706C65002E6576696C2E6578616D706C65' },
      /subject alternative name/,
    ],
    ['a comma in a name', { alternatives: 'DER:300C820A612C20444E533A622E63' }, /subject alternative name/],
    ['a newline in a name', { alternatives: 'DER:30068204610A6263' }, /not a DNS name|characters/],
    ['a wildcard inside of a name', { names: ['a.*.example'] }, /not a DNS name/],
  ])('a certificate with %s', (_what, given, reason) => {
    const one = issueCertificate({ names: ['a.example'], ...given })
    expect(refusal(one.certificate, one.key).message).toMatch(reason)
  })

  test('an expired certificate, of the leaf or of an authority', () => {
    const short = issueCertificate({ names: ['a.example'], days: 5 })
    expect(refusal(short.certificate, short.key, NOW + 6 * DAY_MS).message).toMatch(/block 1: expired at/)
    const brief = issueCertificate({ issuer: root, isAuthority: true, days: 5 })
    const under = issueCertificate({ issuer: brief, names: ['a.example'] })
    expect(refusal(under.certificate + brief.certificate, under.key, NOW + 6 * DAY_MS).message).toMatch(
      /block 2: expired/,
    )
  })

  test('a chain that does not fit a payload of the proxy', () => {
    let issuer = issueCertificate({ isAuthority: true })
    const all = [issuer]
    for (let count = 0; count < 8; count++) {
      issuer = issueCertificate({
        issuer,
        isAuthority: true,
        alternatives: `URI:http://${'b'.repeat(1500)}/`,
      })
      all.push(issuer)
    }
    const last = issueCertificate({ issuer, names: ['a.example'] })
    const chain = [last, ...all].map(({ certificate }) => certificate).join('')
    expect(refusal(chain, last.key).message).toMatch(/15000 bytes/)
  })
})

describe('authorities, which have no key', () => {
  const readAll = (chain: string, nowMs = NOW) => readCertificate({ chain }, nowMs)
  const refused = (chain: string, nowMs = NOW): string => {
    try {
      readAll(chain, nowMs)
    } catch (error) {
      if (error instanceof SpoutError) return `${error.code} ${error.message}`
      throw error
    }
    throw new Error('they were accepted')
  }

  test('stay in their order; the first is described, and all end with the first that ends', () => {
    const brief = issueCertificate({ isAuthority: true, days: 5 })
    const { content, keyPem } = readAll(`${root.certificate}\n${brief.certificate}${middle.certificate}`)
    expect(keyPem).toBeNull()
    expect(certificates(content.chain).map(({ fingerprint }) => fingerprint)).toEqual(
      [root, brief, middle].map(({ certificate }) => new X509Certificate(certificate).fingerprint),
    )
    const [first, second] = [root, brief].map(({ certificate }) => new X509Certificate(certificate))
    expect(content).toMatchObject({
      names: [],
      subject: first!.subject?.replaceAll('\n', ', '),
      notAfter: second!.validToDate.toISOString(),
    })
  })

  test('a certificate that signed itself is its own authority', () => {
    expect(readAll(plain.certificate).content.names).toEqual([])
  })

  test.each<[string, string, number, RegExp]>([
    ['a certificate of no authority', leaf.certificate, 0, /block 1 is not the certificate of an authority/],
    ['one twice', root.certificate + root.certificate, 0, /twice/],
    ['an expired one', root.certificate, 1000 * DAY_MS, /block 1: expired at/],
    ['a key', root.certificate + root.key, 0, /block 2 is PRIVATE KEY/],
    ['one of RSA with 1024 bits', issueCertificate({ isAuthority: true, newKey: 'rsa:1024' }).certificate, 0, /1024/],
    ['nothing', '', 0, /no PEM block/],
  ])('%s is refused', (_what, chain, laterMs, reason) => {
    expect(refused(chain, NOW + laterMs)).toMatch(/^InvalidField/)
    expect(refused(chain, NOW + laterMs)).toMatch(reason)
  })
})
