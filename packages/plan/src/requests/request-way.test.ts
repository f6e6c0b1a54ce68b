import { routeAction } from '@spout/model'
import { describe, expect, it } from 'vitest'
import type { AskedRoute } from './explain-request.ts'
import type { AskedRequest } from './request-conditions.ts'
import { requestWay, type WayListener, type WayShare } from './request-way.ts'

const WEB = '00000000-0000-4000-8000-000000000001'
const API = '00000000-0000-4000-8000-000000000002'
const pools = [
  { id: WEB, name: 'web' },
  { id: API, name: 'api' },
]
type Pool = (typeof pools)[number]

const listener = (own: Partial<WayListener> = {}): WayListener => ({
  ...{
    id: 'web',
    protocol: 'http',
    port: 80,
    poolId: WEB,
    others: null,
    allowedCidrs: null,
    answers: true,
    routes: [],
  },
  ...own,
})
const route = (action: object, ...conditions: AskedRoute['conditions']): AskedRoute => ({
  ...{ enabled: true, conditions },
  action: routeAction.parse(action),
})
const under = (path: string) => ({ on: 'path' as const, compare: 'elements' as const, values: [path], not: false })

interface Question extends Partial<AskedRequest> {
  readonly port?: number
  readonly transport?: 'tcp' | 'udp'
}
const way = (listeners: readonly WayListener[], { port = 80, transport = 'tcp', ...own }: Question = {}) => {
  const request = { method: 'GET', host: null, path: '/', query: '', headers: [], source: null, client: null, ...own }
  return requestWay({ listeners, pools }, { transport, port, source: request.source }, request)
}
const percents = (shares: readonly WayShare<Pool>[]) =>
  shares.map((share) => (share.is === 'pool' ? [share.pool?.name, share.percent] : [share.code, share.percent]))

describe('the way of a request', () => {
  it('leads to the default pool where there are no routes', () => {
    const { steps, end } = way([listener({ protocol: 'tcp' })])
    expect(steps.map((step) => [step.listener.id, step.routes])).toEqual([['web', []]])
    expect(end).toEqual({
      is: 'shares',
      forward: null,
      shares: [{ is: 'pool', percent: 100, pool: pools[0], filters: undefined }],
    })
  })

  it('goes by the route that takes it, and says why the others do not', () => {
    const forward = { type: 'forward', pools: [{ poolId: API, weight: 3 }], answered: { code: 503, weight: 1 } }
    const routes = [route({ type: 'respond', code: 403 }, under('/admin')), route(forward, under('/api'))]
    const { steps, end } = way([listener({ routes })], { path: '/api/v1', query: 'a=b' })
    expect(steps[0]?.routes.map(({ verdict }) => verdict.is)).toEqual(['differs', 'takes'])
    expect(end.is === 'shares' && percents(end.shares)).toEqual([
      ['api', 75],
      [503, 25],
    ])
    expect(way([listener({ routes })], { path: '/admin/x' }).end).toMatchObject({ is: 'answer', code: 403 })
    expect(way([listener({ routes, poolId: null })]).end).toMatchObject({ is: 'answer', code: 503 })
  })

  it('says where a redirect leads', () => {
    const routes = [route({ type: 'redirect', code: 301, scheme: 'https' })]
    const { end } = way([listener({ routes })], { host: 'shop.example.com', path: '/a', query: 'b' })
    expect(end).toEqual({ is: 'redirect', code: 301, location: 'https://shop.example.com/a?b' })
  })

  it('goes on at the listener behind one that passes TLS on', () => {
    const named = { on: 'host' as const, compare: 'exact' as const, values: ['db.example.com'], not: false }
    const front = listener({
      ...{ id: 'front', protocol: 'tls-passthrough', port: 443, poolId: null, others: { id: 'web' } },
      routes: [route({ type: 'forward', pools: [{ poolId: API }] }, named)],
    })
    const both = [front, listener({ protocol: 'https', port: 443 })]
    const other = way(both, { port: 443, host: 'shop.example.com' })
    expect(other.steps.map(({ listener: { id }, passesOn }) => [id, passesOn])).toEqual([
      ['front', true],
      ['web', false],
    ])
    expect(other.end.is === 'shares' && percents(other.end.shares)).toEqual([['web', 100]])
    const own = way(both, { port: 443, host: 'db.example.com' })
    expect(own.steps.map(({ taken }) => taken)).toEqual([front.routes[0]])
    expect(own.end.is === 'shares' && percents(own.end.shares)).toEqual([['api', 100]])
  })

  it('ends where nobody listens, with the reason', () => {
    const why = (own: Question, listeners = [listener({ protocol: 'tcp', allowedCidrs: ['10.0.0.0/8'] })]) => {
      const { end } = way(listeners, own)
      return end.is === 'closed' ? end.why : end.is
    }
    expect(why({ port: 81 })).toBe('No listener has this port.')
    expect(why({ transport: 'udp' })).toBe('This port has a listener, but of another protocol.')
    expect(why({ source: '192.0.2.1' })).toContain('does not admit this client')
    expect(why({ source: '10.0.0.1' })).toBe('shares')
    expect(why({}, [listener({ answers: false })])).toBe('The listener of this port is disabled.')
    expect(why({}, [listener({ protocol: 'tls', poolId: null })])).toContain('no default pool')
    expect(way([listener({ protocol: 'metrics', poolId: null })]).end).toMatchObject({ is: 'answer', code: 200 })
  })

  it('leads nowhere where a pool is gone', () => {
    const { end } = way([listener({ poolId: 'gone' })])
    expect(end.is === 'shares' && end.shares).toMatchObject([{ is: 'pool', pool: null }])
  })
})
