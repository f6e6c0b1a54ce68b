import { expect, test } from 'vitest'
import { resolverAddress } from './resolver-address.ts'

test.each(['192.0.2.53', '192.0.2.53:5353', '2001:db8::53', '[2001:db8::53]:65535'])('%s is an address', (text) => {
  expect(resolverAddress.parse(text)).toBe(text)
})

test.each([
  '',
  'dns.example',
  '192.0.2.53:0',
  '192.0.2.53:65536',
  '2001:db8::53:x',
  '[192.0.2.53]:53',
  '192.0.2:53',
  '[::1]',
])('%s is none', (text) => {
  expect(resolverAddress.safeParse(text).success).toBe(false)
})
