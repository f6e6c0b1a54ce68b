import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coversName, dnsName, dnsNames } from './dns-name.ts'

test.each([
  ['Shop.Example.ORG.', 'shop.example.org'],
  ['*.apps.example.org', '*.apps.example.org'],
  ['1.example', '1.example'],
])('%s is the name %s', (text, name) => expect(dnsName.parse(text)).toBe(name))

test.each([
  ['localhost', 'has no dot'],
  ['', 'has no dot'],
  ['a..example', 'has a part that is not'],
  ['-a.example', 'has a part that is not'],
  ['a_b.example', 'has a part that is not'],
  ['a.*.example', 'has a part that is not'],
  ['a*.example', 'has a part that is not'],
  ['a.example\n', 'has a part that is not'],
  ['bücher.example', 'has a part that is not'],
  ['192.0.2.1', 'ends in a number'],
  [`${'a'.repeat(59)}.example`, 'more than 58 characters'],
  [`${'a.'.repeat(123)}example`, 'longer than 248'],
])('%j is refused: it %s', (text, reason) => {
  expect(dnsName.safeParse(text).error?.issues[0]?.message).toContain(reason)
})

test('names are distinct and few', () => {
  expect(dnsNames.safeParse(['a.example', 'A.example']).success).toBe(false)
  expect(dnsNames.safeParse(Array.from({ length: 17 }, (_, at) => `a${at}.example`)).success).toBe(false)
  expect(dnsNames.parse(Array.from({ length: 16 }, (_, at) => `a${at}.example`))).toHaveLength(16)
})

describe('a domain covers', () => {
  test.each([
    ['shop.example', 'shop.example', true],
    ['shop.example', 'a.shop.example', false],
    ['*.shop.example', 'a.shop.example', true],
    ['*.shop.example', 'a.b.shop.example', true],
    ['*.shop.example', '*.shop.example', true],
    ['*.shop.example', '*.b.shop.example', true],
    ['*.shop.example', 'shop.example', false],
    ['*.shop.example', 'eshop.example', false],
    ['a.shop.example', '*.shop.example', false],
  ])('%s: %s %s', (domain, name, expected) => expect(coversName(domain, name)).toBe(expected))

  test('nothing but what ends in it', () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,5}$/)
    const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
    fc.assert(
      fc.property(name, name, (base, other) => {
        if (coversName(`*.${base}`, other)) expect(other.endsWith(`.${base}`)).toBe(true)
        expect(coversName(`*.${base}`, `x.${base}`)).toBe(true)
      }),
    )
  })
})
