import { describe, expect, test } from 'vitest'
import { parseAs } from '../parsing/parse.ts'
import { routeFilters } from './route-filter.ts'

const refusalOf = (filters: unknown): string => {
  try {
    parseAs(routeFilters, filters, 'filters')
    return 'accepted'
  } catch (error) {
    return (error as Error).message
  }
}
const header = (name: unknown, value: unknown = 'x') => [{ type: 'request-headers', set: [{ name, value }] }]
const cors = (fields: object) => [{ type: 'cors', origins: ['*'], ...fields }]

describe('filters of routes', () => {
  test.each([
    [[]],
    [header('X-Env', '')],
    [header('x-env', 'a "b" \'c\' %[src] \\r\\n $HOME {x} # ; : .')],
    [[{ type: 'response-headers', remove: ['Server'] }]],
    [[{ type: 'rewrite', host: 'Inner.example' }]],
    [[{ type: 'rewrite', prefix: { from: '/', to: '/app/' } }]],
    [cors({ origins: ['https://a.example:8443', 'https://*.b.example', 'http://localhost:3000'] })],
    [cors({ methods: ['*'], headers: ['*', 'X-A'], exposeHeaders: ['*'], credentials: true, maxAgeSeconds: 0 })],
  ])('accepted: %j', (filters) => expect(refusalOf(filters)).toBe('accepted'))

  test.each<readonly [unknown, string]>([
    [[{ type: 'mirror' }], 'filters[0].type: must be one of request-headers'],
    [[...header('a'), ...header('b')], 'has two of one type'],
    [header('x env'), 'filters[0].set[0].name: is not the name of a header'],
    [header('x-env\r\nx-evil'), 'filters[0].set[0].name: is not the name of a header'],
    [header(''), 'filters[0].set[0].name: is not the name of a header'],
    [header('x-env', 'a\r\nSet-Cookie: b'), 'filters[0].set[0].value: must hold printable ASCII only'],
    [header('x-env', 'a\0'), 'filters[0].set[0].value: must hold printable ASCII only'],
    [header('x-env', ' a'), 'filters[0].set[0].value: must hold printable ASCII only, with no space around it'],
    [header('x-env', 'é'), 'filters[0].set[0].value'],
    [header('x-env', 'x'.repeat(1025)), 'filters[0].set[0].value'],
    ...['Host', 'Content-Length', 'transfer-encoding', 'CONNECTION', 'te', 'upgrade', 'expect'].map(
      (name) => [header(name), 'filters[0].set[0].name: is a header that says how messages are transferred'] as const,
    ),
    [[{ type: 'response-headers', remove: ['content-length'] }], 'filters[0].remove[0]: is a header that says how'],
    [[{ type: 'rewrite' }], 'must name a host, a path or a prefix'],
    [
      [{ type: 'rewrite', path: '/a', prefix: { from: '/', to: '/' } }],
      'filters[0].prefix: and path exclude each other',
    ],
    [[{ type: 'rewrite', path: '/a b' }], 'filters[0].path: must begin with /'],
    [[{ type: 'rewrite', path: '/a\r\n' }], 'filters[0].path: must begin with /'],
    [[{ type: 'rewrite', host: 'a_b..c' }], 'filters[0].host: is not a host name'],
    [cors({ origins: [] }), 'filters[0].origins'],
    ...['https://a.example/', 'a.example', 'https://*', 'https://a.*.example', 'https://a\r\nb', 'ftp://a', 'null'].map(
      (origin) => [cors({ origins: [origin] }), 'filters[0].origins[0]: is no origin'] as const,
    ),
    [cors({ origins: ['https://a.example:65536'] }), 'filters[0].origins[0]: has a port above 65535'],
    [cors({ methods: ['PROPFIND'] }), 'filters[0].methods[0]'],
    [cors({ maxAgeSeconds: 86_401 }), 'filters[0].maxAgeSeconds'],
    [
      [{ type: 'request-headers', add: Array.from({ length: 4 }, () => ({ name: 'a', value: 'x'.repeat(1000) })) }],
      'have more than 3000 characters together',
    ],
  ])('refused: %j', (filters, message) => expect(refusalOf(filters)).toContain(message))
})
