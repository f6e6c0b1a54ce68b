import { expect, test } from 'vitest'
import { parseAs } from '../parsing/parse.ts'
import { sessionPersistence } from './pool.ts'

const parsed = (cookie: unknown) => parseAs(sessionPersistence, { type: 'cookie', cookie }, 'persistence')

test.each([
  { name: 'route', path: '/shop', sameSite: 'lax', secure: true, maxAgeSeconds: 60 },
  { sameSite: 'none' },
  { secure: false },
])('a cookie of sessions, accepted: %j', (cookie) => expect(parsed(cookie)).toEqual({ type: 'cookie', cookie }))

test('without anything said of it, it is not stored', () => {
  expect(parsed(undefined)).toEqual({ type: 'cookie' })
})

test.each<readonly [unknown, string]>([
  [{}, 'must say something'],
  [{ name: 'a b' }, 'persistence.cookie.name'],
  [{ name: 'a=b' }, 'persistence.cookie.name'],
  [{ name: '' }, 'persistence.cookie.name'],
  [{ path: 'shop' }, 'persistence.cookie.path'],
  [{ path: '/; Domain=example.com' }, 'persistence.cookie.path'],
  [{ path: '/a;b' }, 'persistence.cookie.path'],
  [{ path: '/a\r\nb' }, 'persistence.cookie.path'],
  [{ sameSite: 'Lax' }, 'persistence.cookie.sameSite'],
  [{ sameSite: 'none', secure: false }, 'persistence.cookie.secure'],
  [{ maxAgeSeconds: 0 }, 'persistence.cookie.maxAgeSeconds'],
  [{ domain: 'example.com' }, 'domain'],
])('a cookie of sessions, refused: %j', (cookie, field) => expect(() => parsed(cookie)).toThrow(field))
