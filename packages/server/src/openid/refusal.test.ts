import { expect, test } from 'vitest'
import { ProviderAway } from './provider-fetch.ts'
import { refusalOf, unavailable } from './refusal.ts'

// How the library says what went wrong: its own errors have a fixed sentence, and what was wrong as their cause.
const withCause = (message: string, cause: unknown) => new Error(message, { cause })
const byProvider = (error: string) => Object.assign(new Error('server responded with an error'), { error })
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.a-token.of-somebody'

test.each<[string, unknown, string, string]>([
  [
    'does not answer',
    withCause('something went wrong', new ProviderAway('ECONNREFUSED')),
    'Unavailable',
    'SSO is not available: ECONNREFUSED',
  ],
  ['knows no such code', byProvider('invalid_grant'), 'Unauthenticated', 'SSO takes this login as used up or too old'],
  [
    'knows no such client',
    byProvider('invalid_client'),
    'Unavailable',
    'it refuses Spout as its client: invalid_client',
  ],
  ['says anything', byProvider(`<b>${TOKEN}</b>`), 'Unavailable', 'it refuses Spout as its client: an unknown error'],
  [
    'gives a wrong token',
    withCause('unexpected JWT claim value encountered', { body: TOKEN }),
    'Unauthenticated',
    'unexpected JWT claim value encountered',
  ],
])('a provider that %s', (_, error, code, text) => {
  const refusal = refusalOf('SSO', error)
  expect([refusal.code, refusal.message]).toEqual([code, expect.stringContaining(text)])
  expect(refusal.message).not.toContain(TOKEN)
})

test('a provider that says of itself what cannot be is as good as away', () => {
  const error = withCause('discovered metadata issuer does not match the expected issuer', { body: {} })
  expect(unavailable('SSO', error)).toMatchObject({
    code: 'Unavailable',
    message: 'SSO is not available: discovered metadata issuer does not match the expected issuer',
  })
})
