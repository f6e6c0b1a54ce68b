import { type ShownLoadBalancer, type Tenant, TestSystem } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, vipOf } from './fixtures.ts'

let system: TestSystem
let acme: Tenant
let shop: ShownLoadBalancer

const poolOf = (name: string, index: 1 | 2) => ({
  name,
  protocol: 'http',
  members: [member(index, PORT.http)],
})
const onHost = (value: string, compare = 'exact') => ({ on: 'host', compare, values: [value] })
const onPath = (value: string, compare = 'elements') => ({ on: 'path', compare, values: [value] })
const to = (pool: string) => ({ type: 'forward', pools: [{ pool }] })

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
  shop = await system.createLoadBalancer(acme, {
    name: 'shop',
    pools: [poolOf('one', 1), poolOf('two', 2)],
    listeners: [
      {
        protocol: 'http',
        port: 80,
        defaultPool: 'one',
        routes: [
          { name: 'cart', conditions: [onHost('shop.example.com'), onPath('/cart')], action: to('two') },
          {
            name: 'old',
            conditions: [onHost('old.example.com')],
            action: { type: 'redirect', code: 301, host: 'shop.example.com' },
          },
          {
            name: 'wild',
            conditions: [onHost('example.com', 'any-labels'), onPath('/admin')],
            action: { type: 'respond', code: 403 },
          },
        ],
      },
    ],
  })
})
afterAll(() => system?.destroy())

/** What curl gets from the internet: the member that answered or the code, and where it is sent. */
async function curl(host: string, path: string, ...options: readonly string[]): Promise<string> {
  const form = [
    '-s',
    '--path-as-is',
    '-D',
    '-',
    '-w',
    ' %{http_code} %{redirect_url}',
    '-H',
    `Host: ${host}`,
    ...options,
  ]
  const said = await system.lab.must('client', ['curl', ...form, `http://${vipOf(shop)}${path}`])
  const [, code, location] = / (\d{3}) (\S*)$/.exec(said) ?? []
  const name = /tenant-a-member(\d)/.exec(said)?.[1]
  return [name === undefined ? code : `member ${name}`, location].filter((part) => part !== '').join(' ')
}

it('routes requests of clients by host and path, redirects and refuses', async () => {
  expect(await curl('shop.example.com', '/cart/1')).toBe('member 2')
  expect(await curl('shop.example.com', '/cartoon')).toBe('member 1')
  expect(await curl('anything.test', '/')).toBe('member 1')
  expect(await curl('old.example.com', '/a?b=c')).toBe('301 http://shop.example.com/a?b=c')
  expect(await curl('a.b.example.com', '/admin/users')).toBe('403')
  expect(await curl('example.com', '/admin/users')).toBe('member 1')
})

it('shows a change as active when the nodes answer by it', async () => {
  const path = `/load-balancers/${shop.id}/listeners/${shop.listeners[0]!.id}`
  const { routes } = await system.api<{ routes: object[] }>(acme, 'GET', path)
  for (const pool of ['one', 'two', 'one', 'two']) {
    const first = { name: 'first', conditions: [onPath('/first', 'exact')], action: to(pool) }
    await system.api(acme, 'PATCH', path, { routes: [first, ...routes] })
    await system.active(acme, shop.id)
    expect(await curl('shop.example.com', '/first')).toBe(pool === 'one' ? 'member 1' : 'member 2')
    expect(await curl('shop.example.com', '/cart')).toBe('member 2')
  }
  await system.api(acme, 'PATCH', path, { routes: [] })
  await system.active(acme, shop.id)
  expect(await curl('shop.example.com', '/cart')).toBe('member 1')
})

it('refuses routes that it cannot carry out, with field and reason', async () => {
  const path = `/load-balancers/${shop.id}/listeners/${shop.listeners[0]!.id}`
  const refused = system.api(acme, 'PATCH', path, {
    routes: [{ conditions: [{ on: 'body', values: ['y'] }], action: to('one') }],
  })
  await expect(refused).rejects.toThrow(/routes\[0\]\.conditions\[0\]\.on/)
})
