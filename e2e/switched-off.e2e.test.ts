import { type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, quickCheck, vipOf } from './fixtures.ts'

/** What is switched off does nothing, and does it again once it is on. */

let system: TestSystem
let acme: Tenant
let shop: ShownLoadBalancer

const check = (enabled: boolean) => ({ ...quickCheck('tcp'), enabled })

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
  shop = await system.createLoadBalancer(acme, {
    name: 'shop',
    pools: [{ name: 'web', protocol: 'http', monitor: check(true), members: [1, 2].map((n) => web(n as 1 | 2)) }],
    listeners: [
      {
        protocol: 'http',
        port: 80,
        defaultPool: 'web',
        routes: [{ name: 'shut', action: { type: 'respond', code: 403 }, enabled: false }],
      },
    ],
  })
})
afterAll(() => system?.destroy())

const web = (index: 1 | 2, more: object = {}) => member(index, PORT.http, more)
const here = () => `/load-balancers/${shop.id}`
const listener = () => `${here()}/listeners/${shop.listeners[0]!.id}`
const pool = () => `${here()}/pools/${shop.pools[0]!.id}`

/** What curl says of six requests: names of members, codes of others, or that nothing answers. */
async function answers(): Promise<string> {
  const form = ['curl', '-s', '--max-time', '5', '-w', ' %{http_code}', `http://${vipOf(shop)}/`]
  const said = []
  for (let request = 0; request < 6; request++) said.push((await system.lab.run('client', form)).stdout)
  const names = said.map((text) => /tenant-a-(member\d)/.exec(text)?.[1] ?? / (\d{3})$/.exec(text)?.[1] ?? text)
  return [...new Set(names)].toSorted().join()
}
const answersBecome = (wanted: string) =>
  waitFor(async () => (await answers()) === wanted, { what: `answers of ${wanted}`, timeoutMs: 60_000 }).catch(
    async () => expect(await answers()).toBe(wanted),
  )

async function change(path: string, body: object): Promise<void> {
  await system.api(acme, 'PATCH', path, body)
  await system.active(acme, shop.id)
}
async function members(...list: readonly object[]): Promise<void> {
  await system.api(acme, 'PUT', `${pool()}/members`, { members: list })
  await system.active(acme, shop.id)
}

it('a listener', async () => {
  await answersBecome('member1,member2')
  await change(listener(), { enabled: false })
  await answersBecome('000')
  await change(listener(), { enabled: true })
  await answersBecome('member1,member2')
})

it('a route', async () => {
  const shut = (enabled: boolean) => ({ routes: [{ name: 'shut', action: { type: 'respond', code: 403 }, enabled }] })
  await change(listener(), shut(true))
  await answersBecome('403')
  await change(listener(), shut(false))
  await answersBecome('member1,member2')
})

it('a pool', async () => {
  await change(pool(), { enabled: false })
  await answersBecome('503')
  await change(pool(), { enabled: true })
  await answersBecome('member1,member2')
})

it('a member', async () => {
  await members(web(1, { enabled: false }), web(2))
  await answersBecome('member2')
  await members(web(1), web(2))
  await answersBecome('member1,member2')
})

it('a monitor; one that is on asks the address that a member names for it', async () => {
  // Nobody has this address, so its check fails while the member itself lives.
  const elsewhere = web(1, { monitorAddress: '10.0.0.99' })
  await members(elsewhere, web(2))
  await answersBecome('member2')
  await change(pool(), { monitor: check(false) })
  await answersBecome('member1,member2')
  await change(pool(), { monitor: check(true) })
  await answersBecome('member2')
  await members(web(1), web(2))
  await answersBecome('member1,member2')
})
