import type { Secret } from '@spout/kube'
import { expect, test } from 'vitest'
import { usersSecretOf } from './users-secret.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const secret = (data: Readonly<Record<string, string>>, version = '1'): Secret => ({
  metadata: { name: 'staff', namespace: 'shop', uid: 'u', resourceVersion: version },
  data,
})
const HASH = '{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk='

const textOf = (made: ReturnType<typeof usersSecretOf>) => ('value' in made ? made.value.key?.reveal() : made.refusal)

test('users are read of a file under auth, or each under its name', () => {
  expect(textOf(usersSecretOf(secret({ auth: base64(`joe:${HASH}\n`) }), 'auth-file'))).toBe(`joe:${HASH}\n`)
  const map = secret({ zoe: base64(`${HASH}\n`), joe: base64(HASH) })
  expect(textOf(usersSecretOf(map, 'auth-map'))).toBe(`joe:${HASH}\nzoe:${HASH}\n`)
})

test('what names its content says nothing of it, and changes with the Secret', () => {
  const hashOf = (made: ReturnType<typeof usersSecretOf>) => ('value' in made ? made.value.hash : '')
  const [one, same, other] = [
    usersSecretOf(secret({ auth: base64(`joe:${HASH}`) }), 'auth-file'),
    usersSecretOf(secret({ auth: base64('another') }), 'auth-file'),
    usersSecretOf(secret({ auth: base64(`joe:${HASH}`) }, '2'), 'auth-file'),
  ]
  expect(hashOf(one)).toBe(hashOf(same))
  expect(hashOf(one)).not.toBe(hashOf(other))
})

test.each([
  ['auth-file', {}, 'data[auth]'],
  ['auth-file', { users: base64(`joe:${HASH}`) }, 'data[auth]'],
  ['auth-file', { auth: 'A'.repeat(200_000) }, 'data[auth]'],
  ['auth-map', { joe: 'A'.repeat(60_000), zoe: 'A'.repeat(60_000) }, 'data'],
  ['auth-map', { joe: base64(`${HASH}\nroot:${HASH}`) }, 'data'],
  ['auth-map', { [`joe:${HASH}\nroot`]: base64(HASH) }, 'data'],
] as const)('of form %s %j is refused at %s, and never quoted', (form, data, field) => {
  const made = usersSecretOf(secret(data), form)
  expect(made).toMatchObject({ refusal: { reason: 'InvalidUsers', field } })
  expect(JSON.stringify(made)).not.toContain('2jmj7l5rSw0')
})
