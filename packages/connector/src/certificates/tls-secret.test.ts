import { issueCertificate } from '@spout/testkit/tls'
import { describe, expect, test } from 'vitest'
import { authoritiesOf, secretAuthoritiesOf, tlsContentOf } from './tls-secret.ts'

const one = issueCertificate({ names: ['a.example'], days: 90 })
const two = issueCertificate({ names: ['b.example'], days: 90 })
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const secret = (crt: string, key: string, type = 'kubernetes.io/tls') => ({
  metadata: { name: 'web' },
  type,
  data: { 'tls.crt': base64(crt), 'tls.key': base64(key) },
})
const refusalOf = (crt: string, key: string, type?: string) => {
  const read = tlsContentOf(secret(crt, key, type))
  return 'refusal' in read ? read.refusal : null
}

describe('a Secret of type kubernetes.io/tls', () => {
  test('is read, without the text between its blocks', () => {
    const read = tlsContentOf(
      secret(
        `subject=CN = a\n${one.certificate}\n`,
        `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${one.key}`,
      ),
    )
    if ('refusal' in read) throw new Error(read.refusal.message)
    expect(read.value.chain.trim()).toBe(one.certificate.trim())
    expect(read.value.key?.reveal().trim()).toBe(one.key.trim())
  })

  test('shows its key in no text', () => {
    const read = tlsContentOf(secret(one.certificate, one.key))
    expect(JSON.stringify(read)).not.toContain('PRIVATE KEY')
  })

  test('has another hash with other content', () => {
    const [a, b] = [tlsContentOf(secret(one.certificate, one.key)), tlsContentOf(secret(two.certificate, two.key))]
    if ('refusal' in a || 'refusal' in b) throw new Error('refused')
    expect(a.value.hash).not.toBe(b.value.hash)
  })

  test.each([
    ['of another type', one.certificate, one.key, 'Opaque', 'type'],
    ['without a certificate', 'hello', one.key, undefined, 'data[tls.crt]'],
    [
      'with a broken certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      one.key,
      undefined,
      'data[tls.crt]',
    ],
    ['without a key', one.certificate, '', undefined, 'data[tls.key]'],
    ['with two keys', one.certificate, one.key + two.key, undefined, 'data[tls.key]'],
    ['with the key of another', one.certificate, two.key, undefined, 'data[tls.key]'],
    [
      'with a broken key',
      one.certificate,
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
      undefined,
      'data[tls.key]',
    ],
  ])('%s is refused with its field', (_what, crt, key, type, field) => {
    const refusal = refusalOf(crt, key, type)
    expect(refusal).toMatchObject({ reason: 'InvalidCertificate', field })
    expect(refusal?.message).not.toContain('BEGIN')
  })

  test('without data is refused', () => {
    expect(tlsContentOf({ metadata: { name: 'web' }, type: 'kubernetes.io/tls' })).toMatchObject({
      refusal: { field: 'data[tls.crt]' },
    })
  })
})

test('authorities of a Secret are read, and nothing that would be left out', () => {
  const of = (data: Readonly<Record<string, string>>) =>
    secretAuthoritiesOf({ metadata: { name: 'ca' }, type: 'Opaque', data })
  const both = of({ 'ca.crt': base64(`# one\n${one.certificate}${two.certificate}`), 'tls.key': base64(one.key) })
  if ('refusal' in both) throw new Error(both.refusal.message)
  expect(both.value.chain).toBe(`${one.certificate.trim()}\n${two.certificate.trim()}\n`)
  expect(both.value.key).toBeNull()
  for (const [data, field] of [
    [{}, 'data[ca.crt]'],
    [{ 'tls.crt': base64(one.certificate) }, 'data[ca.crt]'],
    [{ 'ca.crt': one.certificate }, 'data[ca.crt]'],
    [{ 'ca.crt': base64(one.certificate), 'ca.crl': base64('x') }, 'data[ca.crl]'],
  ] as const)
    expect(of(data)).toMatchObject({ refusal: { reason: 'InvalidCertificate', field } })
})

test('authorities of a ConfigMap are read without what stands between them', () => {
  const [one, other] = [issueCertificate({ isAuthority: true }), issueCertificate({ isAuthority: true })]
  const read = authoritiesOf({
    metadata: { name: 'ca' },
    data: { 'ca.crt': `# one\n${one.certificate}# other\n${other.certificate}` },
  })
  expect('value' in read && [read.value.chain, read.value.key]).toEqual([one.certificate + other.certificate, null])
})

test.each([
  ['no such key', {}],
  ['no certificate', { 'ca.crt': 'a' }],
  ['a broken one', { 'ca.crt': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' }],
])('no authorities: %s', (_, data) => {
  const read = authoritiesOf({ metadata: { name: 'ca' }, data: data as Record<string, string> })
  expect('refusal' in read && [read.refusal.reason, read.refusal.field]).toEqual(['InvalidCertificate', 'data[ca.crt]'])
})
