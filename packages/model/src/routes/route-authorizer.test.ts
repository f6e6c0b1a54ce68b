import { expect, test } from 'vitest'
import { forwardAction } from './http-route.ts'

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const forward = { type: 'forward', pools: [{ poolId: id(1) }] }
const parse = (authorizer: unknown) => forwardAction.safeParse({ ...forward, authorizer })

test('an authorizer is asked with the request as it is, unless it says more', () => {
  expect(parse({ poolId: id(2) }).data?.authorizer).toEqual({
    ...{ poolId: id(2), method: null, host: null, path: null, pathPrefix: null },
    ...{ sendHeaders: ['*'], setHeaders: [], takeHeaders: [], cookies: 'never', signIn: null },
  })
  expect(forwardAction.parse(forward)).not.toHaveProperty('authorizer')
})

test('where clients sign in is as in the request, but for a path', () => {
  const signIn = { path: '/in?a=b', returnTo: { parameter: 'rd' } }
  expect(parse({ poolId: id(2), signIn }).data?.authorizer?.signIn).toEqual({
    ...{ scheme: null, host: null, port: null, path: '/in?a=b' },
    returnTo: { parameter: 'rd', as: 'url' },
  })
})

test.each([
  [{}, 'poolId'],
  [{ poolId: 'http://10.0.0.1/' }, 'poolId'],
  [{ poolId: id(2), url: 'http://169.254.169.254/' }, 'url'],
  [{ poolId: id(2), method: 'get' }, 'method'],
  [{ poolId: id(2), host: 'a;b' }, 'host'],
  [{ poolId: id(2), path: 'a' }, 'path'],
  [{ poolId: id(2), path: '/a b' }, 'path'],
  [{ poolId: id(2), path: '/a\r\nx: y' }, 'path'],
  [{ poolId: id(2), path: '/a', pathPrefix: '/b' }, 'pathPrefix'],
  [{ poolId: id(2), pathPrefix: '/a?b' }, 'pathPrefix'],
  [{ poolId: id(2), sendHeaders: ['a b'] }, 'sendHeaders'],
  [{ poolId: id(2), setHeaders: [{ name: 'x', value: 'a\nb' }] }, 'value'],
  [{ poolId: id(2), setHeaders: [{ name: 'host', value: 'a' }] }, 'name'],
  [{ poolId: id(2), takeHeaders: ['content-length'] }, 'takeHeaders'],
  [{ poolId: id(2), takeHeaders: ['*()'] }, 'takeHeaders'],
  [{ poolId: id(2), cookies: 'yes' }, 'cookies'],
  [{ poolId: id(2), signIn: { path: '//', scheme: 'javascript' } }, 'scheme'],
  [{ poolId: id(2), signIn: { path: '/\r\n' } }, 'path'],
  [{ poolId: id(2), signIn: { path: '/', returnTo: { parameter: 'a&b' } } }, 'parameter'],
  [
    {
      poolId: id(2),
      takeHeaders: Array.from({ length: 32 }, (_, at) => `x-${'y'.repeat(55)}${at}`),
      path: `/${'a'.repeat(1000)}`,
      signIn: { path: `/${'b'.repeat(1000)}` },
    },
    'characters',
  ],
])('refused: %j', (authorizer, word) => {
  const { success, error } = parse(authorizer)
  expect(success).toBe(false)
  expect(JSON.stringify(error?.issues)).toContain(word)
})

test('a password beside it: both let a request in, or one of them', () => {
  const asks = { authorizer: { poolId: id(2) }, basicAuthentication: { usersId: id(3) } }
  expect(forwardAction.parse({ ...forward, ...asks })).not.toHaveProperty('satisfy')
  expect(forwardAction.parse({ ...forward, ...asks, satisfy: 'any' }).satisfy).toBe('any')
  for (const { satisfy, ...some } of [
    { satisfy: 'any' },
    { authorizer: asks.authorizer, satisfy: 'all' },
    { basicAuthentication: asks.basicAuthentication, satisfy: 'any' },
    { ...asks, satisfy: 'either' },
  ]) {
    const { error } = forwardAction.safeParse({ ...forward, ...some, satisfy })
    expect(error?.issues).toMatchObject([{ path: ['satisfy'] }])
  }
})
