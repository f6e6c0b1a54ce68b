import { expect, test } from 'vitest'
import { parsePostgresAddress } from './server-address.ts'

test.each([
  ['db1.example', { host: 'db1.example', port: 5432 }],
  ['db1.example:6432', { host: 'db1.example', port: 6432 }],
  ['[2001:db8::1]:6432', { host: '2001:db8::1', port: 6432 }],
  ['[2001:db8::1]', { host: '2001:db8::1', port: 5432 }],
  ['/run/postgresql', { host: '/run/postgresql', port: 5432 }],
  ['/run/postgresql:5433', { host: '/run/postgresql', port: 5433 }],
  ['2001:db8::1', null],
  ['db1:0', null],
  ['db1:65536', null],
  ['postgres://db1/spout', null],
  ['', null],
])('%s', (text, expected) => {
  expect(parsePostgresAddress(text)).toEqual(expected)
})
