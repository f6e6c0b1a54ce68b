import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { cipherList } from '../load-balancers/listener.ts'
import { parseAs } from '../parsing/parse.ts'
import { CIPHERS, DEFAULT_CIPHERS, isCipher, TLS12_CIPHERS, TLS13_CIPHERS, whyNoCipher } from './ciphers.ts'

const openssl = (...args: readonly string[]): readonly string[] =>
  execFileSync('openssl', ['ciphers', ...args], { encoding: 'utf8' })
    .trim()
    .split(':')

test('all are of OpenSSL, under these names', () => {
  expect(openssl('-s', '-tls1_3', '-ciphersuites', TLS13_CIPHERS.join(':'), 'NULL')).toEqual([...TLS13_CIPHERS])
  expect(openssl('-ciphersuites', '', TLS12_CIPHERS.join(':'))).toEqual([...TLS12_CIPHERS])
})

test('every other cipher of OpenSSL is refused with a reason of its own', () => {
  const others = openssl('-ciphersuites', '', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0').filter((name) => !isCipher(name))
  expect(others.length).toBeGreaterThan(100)
  for (const name of others) expect(whyNoCipher(name), name).not.toMatch(/is not the name/)
})

test.each([
  ['ECDHE-RSA-NULL-SHA', /does not encrypt/],
  ['EXP-RC4-MD5', /export/],
  ['ECDHE-RSA-RC4-SHA', /RC4/],
  ['DES-CBC3-SHA', /DES/],
  ['EDH-RSA-DES-CBC3-SHA', /DES/],
  ['AES128-MD5', /MD5/],
  ['ADH-AES128-GCM-SHA256', /anonymous/],
  ['AECDH-AES128-SHA', /anonymous/],
  ['PSK-AES128-GCM-SHA256', /both sides/],
  ['AES128-GCM-SHA256', /forward secrecy/],
  ['HIGH', /is not the name/],
  ['!aNULL', /expression/],
  ['', /is not the name/],
])('%s is refused', (name, reason) => {
  expect(whyNoCipher(name)).toMatch(reason)
})

test.each([
  [['TLS_AES_128_GCM_SHA256', 'RC4-SHA'], 'Field ciphers[1]: "RC4-SHA" uses RC4, which is broken (RFC 7465)'],
  [['AES256-SHA'], 'Field ciphers[0]: "AES256-SHA" has no forward secrecy (RFC 9325 section 4.1)'],
  [[], 'Field ciphers: must have at least 1 item'],
  [['TLS_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'], 'Field ciphers: names a cipher twice'],
])('%j is refused with the place and the reason', (names, message) => {
  expect(() => parseAs(cipherList, names, 'ciphers')).toThrow(message)
})

test('those by default are offered, and have AEAD', () => {
  for (const name of DEFAULT_CIPHERS) {
    expect(CIPHERS).toContain(name)
    expect(name).toMatch(/GCM|POLY1305/)
  }
})
