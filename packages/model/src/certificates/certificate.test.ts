import { expect, test } from 'vitest'
import { certificateUse, validityOf } from './certificate.ts'

const pemOf = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`
const [authorities, revocations] = ['CERTIFICATE', 'X509 CRL'].map((label) => ({
  sealedKey: null,
  chain: pemOf(label),
})) as [{ sealedKey: null; chain: string }, { sealedKey: null; chain: string }]
const dates = { notBefore: '2026-01-01T00:00:00.000Z', notAfter: '2026-01-21T00:00:00.000Z' }
const at = (day: number, of: typeof authorities) => validityOf({ ...dates, ...of }, Date.UTC(2026, 0, day))

test('a certificate is for what its key and the label of its PEM say', () => {
  expect([authorities, revocations].map(certificateUse)).toEqual(['authorities', 'revocations'])
  expect(certificateUse({ ...authorities, sealedKey: 'x' })).toBe('keyed')
})

test('lists of revoked certificates are used until their last day without a word, and refuse clients afterwards', () => {
  expect([0, 2, 20, 21].map((day) => at(day, revocations).state)).toEqual([
    'not-yet-valid',
    'valid',
    'expiring',
    'expired',
  ])
  expect(at(2, authorities).state).toBe('expiring')
  expect(at(21, revocations).message).toContain('clients and members with certificates of its authority are refused')
})
