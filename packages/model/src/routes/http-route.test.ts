import { codePoint } from '@spout/testkit/code-point'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SpoutError } from '../parsing/errors.ts'
import { parseAs } from '../parsing/parse.ts'
import { httpRoute } from './http-route.ts'
import { MOST_WILDCARD_LABELS } from './route-words.ts'

const POOL = '11111111-1111-4111-8111-111111111111'
const META = {
  id: '22222222-2222-4222-8222-222222222222',
  name: '',
  description: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
  tags: [],
}
const respond = { type: 'respond', code: 404 }
const parse = (conditions: unknown, action: unknown = respond) =>
  parseAs(httpRoute, { ...META, conditions, action }, 'routes[0]')
const refusal = (conditions: unknown, action: unknown = respond): string => {
  try {
    parse(conditions, action)
    return ''
  } catch (error) {
    if (!(error instanceof SpoutError)) throw error
    return error.message
  }
}
const host = (value: unknown, compare = 'exact') => [{ on: 'host', compare, values: [value] }]
const path = (value: unknown, compare = 'exact') => [{ on: 'path', compare, values: [value] }]

const named = (fields: object) => [{ on: 'header', name: 'x', compare: 'exact', values: ['y'], ...fields }]

/** Characters that end a token, a line, a quoted text or a command in some language. */
const HOSTILE = [
  '\n',
  '\r',
  '\0',
  '\t',
  '\u0085',
  '\u2028',
  ' ',
  '"',
  '#',
  '\\',
  '{',
  '}',
  '[',
  ']',
  '<',
  '>',
  '^',
  '`',
  '|',
  'ä',
  '\u202e',
  '\ud800',
]
/** Valid in paths (RFC 3986 section 3.3), and not in host names. */
const IN_PATHS_ONLY = ["'", ';', ':', '!', '$', '&', '(', ')', '*', '+', ',', '=', '@', '/', '~']

describe('a route', () => {
  test.each([...HOSTILE, ...IN_PATHS_ONLY, '?', '%', '%0a', '..', '.'])('refuses %j in a host name', (character) => {
    for (const value of [`a${character}b.example.com`, `${character}example.com`, `example.com${character}`]) {
      if (/^[a-z0-9.-]+$/.test(value) && !/\.\.|^\.|\.$/.test(value)) continue
      expect(refusal(host(value)), value).toContain('Field routes[0].conditions[0].values[0]: is not a host name')
      expect(refusal([], { type: 'redirect', code: 301, host: value }), value).toContain('routes[0].action.host')
    }
  })

  test.each([...HOSTILE, '?', '%', '%0', '%0g', '%%'])('refuses %j in a path', (character) => {
    const field = 'Field routes[0].conditions[0].values[0]: must begin with / and hold only what RFC 3986 allows'
    expect(refusal(path(`/a${character}/b`))).toContain(field)
    if (character !== '?')
      expect(refusal([], { type: 'redirect', code: 301, path: `/a${character}/b` })).toContain('routes[0].action.path')
  })

  test('takes only names and paths of their alphabets', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 12 }), (value) => {
        if (refusal(host(value)) === '') expect(value.toLowerCase()).toMatch(/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/)
        const inPath = `/${value}`
        if (refusal(path(inPath)) === '') expect(inPath).toMatch(/^[!$%&'()*+,./0-9:;=@A-Z_a-z~-]+$/)
      }),
      { numRuns: byLength(400, 2_000) },
    )
  })

  test.each(IN_PATHS_ONLY)('takes %j in a path', (character) => {
    expect(parse(path(`/a${character}b`)).conditions).toEqual([
      { on: 'path', compare: 'exact', values: [`/a${character}b`], not: false },
    ])
  })

  test('compares hosts in lower case', () => {
    expect(parse(host('WWW.Example.COM')).conditions[0]?.values).toEqual(['www.example.com'])
  })

  test.each([
    [host(''), 'values[0]: is not a host name'],
    [host('*.example.com'), 'values[0]: is not a host name'],
    [host('a'.repeat(64)), 'values[0]: is not a host name'],
    [host(`${'a.'.repeat(130)}a`), 'values[0]: must have at most 253 characters'],
    [host('example.com', 'suffix'), 'compare: must be one of exact, one-label, any-labels'],
    [host(7), 'values[0]: must be text'],
    [host('a.'.repeat(MOST_WILDCARD_LABELS).concat('a'), 'any-labels'), 'must have at most 8 labels'],
    [path('a'), 'values[0]: must begin with /'],
    [path(`/${'a'.repeat(1024)}`), 'values[0]: must have at most 1024 characters'],
    [path('/', 'glob'), 'compare: must be one of exact, elements, prefix, ends-with, contains, regex'],
    [path('/(a', 'regex'), 'values[0]: has a ( without its ), at character 4'],
    [path('/(?=a)', 'regex'), 'values[0]: has a look-around'],
    [path('a b', 'ends-with'), 'values[0]: must hold only what RFC 3986 allows'],
    [host('a/b', 'contains'), 'values[0]: is not a part of a host name'],
    [[{ on: 'source', values: ['10.0.0.0/33'] }], 'values[0]'],
    [named({ name: 'x y' }), 'name: is not the name of a header (RFC 9110)'],
    [named({ on: 'cookie', name: 'a=b' }), 'name: is not the name of a cookie (RFC 6265)'],
    [named({ on: 'query', name: 'a&b' }), 'name: is not the name of a query parameter'],
    [named({ on: 'client-name', name: 'C N' }), 'name: is not a part of a name, such as CN or OU'],
    [[{ on: 'client-certificate', values: ['valid'] }], 'values[0]: must be one of present, absent'],
    [named({ values: ['a\r\nb'] }), 'values[0]: must hold printable ASCII only'],
    [named({ compare: 'one-label' }), 'compare: must be one of exact, prefix, ends-with, contains, regex'],
    [named({ values: Array(5).fill('a'.repeat(1_000)) }), 'values: have more than 4000 characters together'],
    [named({ compare: 'regex', values: ['a**'] }), 'values[0]: repeats a repetition'],
    [[{ on: 'method', values: ['get'] }], 'values[0]: must be one of GET,'],
    [[{ on: 'method', values: [] }], 'values: must have at least 1 item'],
    [
      [{ on: 'body', values: ['y'] }],
      'conditions[0].on: must be one of host, path, method, header, cookie, query, source, client-certificate, client-name',
    ],
    [[{ on: 'method', values: ['GET'], compare: 'exact' }], 'conditions[0].compare'],
    [Array.from({ length: 101 }, () => path('/')[0]), 'conditions: must have at most 100 items'],
  ])('refuses %j and says why', (conditions, reason) => {
    expect(refusal(conditions)).toContain(reason)
  })

  test.each([
    [{ type: 'mirror' }, 'action.type: must be one of forward, redirect, respond'],
    [{ type: 'forward', pools: [] }, 'action.pools: must have at least 1 item'],
    [{ type: 'forward', pools: [{ poolId: 'web' }] }, 'action.pools[0].poolId: is not a UUID'],
    [{ type: 'forward', pools: [{ poolId: POOL, weight: 0 }] }, 'action.pools: must have a weight above 0'],
    [{ type: 'forward', pools: [{ poolId: POOL }, { poolId: POOL }] }, 'action.pools: names a pool twice'],
    [
      { type: 'forward', pools: [{ poolId: POOL, filters: [{ type: 'cors', origins: ['*'] }] }] },
      'action.pools[0].filters: must be of types request-headers, response-headers and rewrite',
    ],
    [
      { type: 'forward', pools: [{ poolId: POOL }], answered: { code: 299, weight: 1 } },
      'action.answered.code: must be one of 200, 204',
    ],
    [
      { type: 'redirect', code: 301, path: '/a', prefix: { from: '/a', to: '/b' } },
      'action.prefix: excludes path and pathPrefix',
    ],
    [{ type: 'redirect', code: 200 }, 'action.code: must be one of 301, 302, 303, 307, 308'],
    [{ type: 'redirect', code: 301, scheme: 'ftp' }, 'action.scheme: must be one of http, https'],
    [{ type: 'redirect', code: 301, path: 'https://a/' }, 'action.path: must begin with /'],
    [{ type: 'redirect', code: 301, port: 0 }, 'action.port: must be at least 1'],
    [{ type: 'respond', code: 299 }, 'action.code: must be one of 200, 204'],
    [{ type: 'respond', code: 404, body: 'x' }, 'action.body'],
  ])('refuses action %j and says why', (action, reason) => {
    expect(refusal([], action)).toContain(reason)
  })

  test('takes a query in the path of a redirect', () => {
    const action = { type: 'redirect', code: 302, scheme: 'https', host: 'new.example.com', path: '/a?b=c&d=/?e' }
    expect(parse([], action).action).toEqual({ ...action, port: null, pathPrefix: null })
  })
})
