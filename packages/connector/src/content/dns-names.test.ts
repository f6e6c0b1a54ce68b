import { describe, expect, test } from 'vitest'
import { askedNames, namesOfAll, tooManyNames } from './dns-names.ts'

const [NEW, OLD] = ['external-dns.kubernetes.io', 'external-dns.alpha.kubernetes.io']
const DOMAINS = ['*.shop.example.org', 'www.example.org']
const said = ({ notices }: ReturnType<typeof askedNames>) => notices.map(({ field, message }) => `${field}: ${message}`)

describe('annotations', () => {
  test.each([NEW, OLD])('say names and a time to live with the prefix %s', (prefix) => {
    const asked = askedNames({
      [`${prefix}/hostname`]: 'Shop.example.org., *.shop.example.org,shop.example.org',
      [`${prefix}/ttl`]: '1m',
    })
    expect(asked).toEqual({ dnsNames: ['shop.example.org', '*.shop.example.org'], dnsTtlSeconds: 60, notices: [] })
  })

  test('that are not set ask for nothing', () => {
    expect(askedNames()).toEqual({ dnsNames: [], dnsTtlSeconds: null, notices: [] })
  })

  test.each([
    [{ [`${NEW}/hostname`]: 'a.example,b_c.example' }, ['a.example'], '"b_c.example" is not published: it has a part'],
    [{ [`${NEW}/hostname`]: 'a.example', [`${OLD}/hostname`]: 'b.example' }, [], 'differs from'],
    [{ [`${NEW}/hostname`]: 'a.example', [`${NEW}/ttl`]: 'soon' }, ['a.example'], '"soon" is not a time'],
    [{ [`${NEW}/hostname`]: 'a.example', [`${NEW}/ttl`]: '500ms' }, ['a.example'], '"500ms" is not a time'],
  ])('%j are said and hinder nothing else', (annotations, names, message) => {
    const asked = askedNames(annotations as unknown as Readonly<Record<string, string>>)
    expect(asked.dnsNames).toEqual(names)
    expect(said(asked).join()).toContain(message)
  })

  test.each([
    ['dns-controller', ['a.example']],
    ['somebody-else', []],
  ])('controller %s', (controller, names) => {
    expect(askedNames({ [`${OLD}/controller`]: controller, [`${NEW}/hostname`]: 'a.example' }).dnsNames).toEqual(names)
  })
})

describe('hosts', () => {
  const hosts = ['www.example.org', 'a.b.shop.example.org', 'shop.example.org', '*.shop.example.org', ''].map(
    (host, at) => ({ host, field: `rules[${at}]` }),
  )

  test('that a domain of the project covers become names, and the others are said', () => {
    const asked = askedNames({}, hosts, DOMAINS)
    expect(asked.dnsNames).toEqual(['www.example.org', 'a.b.shop.example.org', '*.shop.example.org'])
    expect(said(asked)).toEqual(['rules[2]: "shop.example.org" is not published: no domain of the project covers it.'])
  })

  test('are not spoken of in a project without domains, unlike names that are asked for', () => {
    const asked = askedNames({ [`${NEW}/hostname`]: 'a.example' }, hosts, [])
    expect(asked.dnsNames).toEqual([])
    expect(said(asked)).toEqual([expect.stringContaining('"a.example" is not published: no domain')])
  })
})

test('of objects at one address the first sixteen names are published, with the oldest time to live', () => {
  const many = Array.from({ length: 15 }, (_, at) => `a${at}.example`)
  const asked = [
    askedNames({ [`${NEW}/hostname`]: many.join() }),
    askedNames({ [`${NEW}/hostname`]: 'a0.example,b.example,c.example', [`${NEW}/ttl`]: '30' }),
    askedNames({ [`${NEW}/hostname`]: 'b.example', [`${NEW}/ttl`]: '60' }),
  ]
  const { dnsNames, dnsTtlSeconds } = namesOfAll(asked)
  expect(dnsNames).toEqual([...many, 'b.example'])
  expect(dnsTtlSeconds).toBe(30)
  expect(asked.map((one) => tooManyNames(one, dnsNames)?.message)).toEqual([
    undefined,
    'Only the first 16 names are published, without "c.example".',
    undefined,
  ])
  expect(namesOfAll([])).toEqual({})
})
