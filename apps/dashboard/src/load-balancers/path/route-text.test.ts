import { expect, it } from 'vitest'
import { actionText, conditionsText } from './route-text.ts'

it('says which requests a route takes', () => {
  expect(conditionsText([])).toBe('every request')
  expect(
    conditionsText([
      { on: 'host', compare: 'one-label', values: ['example.com'], not: false },
      { on: 'path', compare: 'elements', values: ['/api', '/'], not: false },
      { on: 'header', name: 'x-canary', compare: 'exact', values: ['1'], not: true },
      { on: 'method', values: ['GET', 'HEAD'], not: false },
    ]),
  ).toBe('host *.example.com, path /api/… or /…, header x-canary not 1, method GET or HEAD')
})

it('says what a route does', () => {
  const pools = [
    { id: 'a', name: 'web' },
    { id: 'b', name: '' },
  ]
  expect(actionText({ type: 'respond', code: 404 }, pools)).toBe('answers 404')
  expect(actionText({ type: 'forward', pools: [{ poolId: 'a', weight: 1 }] }, pools)).toBe('to web')
  const split = {
    type: 'forward',
    pools: [
      { poolId: 'a', weight: 9 },
      { poolId: 'b', weight: 1 },
    ],
  } as const
  expect(actionText({ ...split, pools: [...split.pools] }, pools)).toBe('90 % to web, 10 % to b')
  const redirect = { type: 'redirect', code: 301, scheme: 'https', host: null, port: null, path: null } as const
  expect(actionText({ ...redirect, pathPrefix: null }, pools)).toBe('redirects (301) to https://(host)(path)')
})
