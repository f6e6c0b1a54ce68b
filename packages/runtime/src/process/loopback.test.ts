import { expect, test } from 'vitest'
import { isLoopback } from './loopback.ts'

test.each(['127.0.0.1', '127.255.0.9', '::1', 'localhost'])('%s is reachable from this machine only', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  '0.0.0.0',
  '::',
  '',
  '128.0.0.1',
  '127.0.0.1.example.org',
  '127.1',
  '::ffff:10.0.0.1',
  'control.example.org',
])('"%s" is reachable from elsewhere', (host) => {
  expect(isLoopback(host)).toBe(false)
})
