import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { poolsOf } from './document-pools.ts'
import { unknownPool } from './unknown-pool.ts'

const [WEB, OLD] = ['7f1b4c1e-0000-4000-8000-000000000001', '7f1b4c1e-0000-4000-8000-000000000002']
const STORED = poolsOf({ pools: [{ id: WEB, name: 'web', protocol: 'http' }] })
const listener = (more: object) => ({ protocol: 'http', port: 80, ...more })
const route = (action: object) => listener({ routes: [{ action: { type: 'forward', ...action } }] })
const POOLS = [{ name: 'web', protocol: 'http' }, { name: 'api' }]
const fault = (listeners: readonly object[], pools: unknown = POOLS) => unknownPool({ listeners, pools }, STORED)

it('names the field of a pool that is not there, and the one that was likely meant', () => {
  expect(fault([listener({ defaultPool: 'wbe' })])).toEqual({
    field: 'listeners[0].defaultPool',
    reason: 'Field listeners[0].defaultPool: Pool wbe not found: did you mean web?',
  })
  expect(fault([listener({ defaultPool: 'something' })])?.reason).toBe(
    'Field listeners[0].defaultPool: Pool something not found',
  )
})

it('looks wherever a listener names a pool', () => {
  const fields = [
    route({ pools: [{ pool: 'web' }, { pool: 'apo' }] }),
    route({ pools: [{ pool: 'web' }], authorizer: { pool: 'auth' } }),
    route({ pools: [{ pool: 'web' }], mirrors: [{ pool: 'copy', percent: 5 }] }),
    listener({ defaultPoolId: OLD }),
  ].map((one) => fault([listener({ defaultPool: 'web' }), one])?.field)
  expect(fields).toEqual([
    'listeners[1].routes[0].action.pools[1].pool',
    'listeners[1].routes[0].action.authorizer.pool',
    'listeners[1].routes[0].action.mirrors[0].pool',
    'listeners[1].defaultPoolId',
  ])
})

it('is silent about what the server takes', () => {
  expect(fault([listener({ defaultPool: 'api' }), route({ pools: [{ pool: 'web' }] })])).toBeNull()
  // It has no id in the document, but is the stored one of its name.
  expect(fault([listener({ defaultPoolId: WEB })])).toBeNull()
  expect(fault([listener({ defaultPoolId: OLD })], [{ id: OLD, protocol: 'http' }])).toBeNull()
  expect(fault([listener({ defaultPoolId: null }), listener({ tags: ['pool'] })])).toBeNull()
})

it('a stored pool that the document no longer has is not there', () => {
  expect(fault([listener({ defaultPoolId: WEB })], [{ name: 'api' }])?.field).toBe('listeners[0].defaultPoolId')
  expect(fault([listener({ defaultPoolId: WEB })], [{ id: OLD, name: 'web' }])?.field).toBe(
    'listeners[0].defaultPoolId',
  )
})

it('never throws, whatever is typed', () => {
  for (const text of ['listeners: 1', 'listeners: [1, null]', 'listeners: {pool: x}', 'pools: [null, 3]', '[]'])
    expect(() => unknownPool(parse(text) as object, STORED)).not.toThrow()
})
