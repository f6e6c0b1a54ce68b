import { WrittenJson } from '@spout/runtime'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadBalancerResource } from '../resources/load-balancer.ts'
import { statusOf } from '../testing/fixtures.ts'
import { TestService } from '../testing/service.ts'
import { KnownLists } from './known-lists.ts'

const items = Array.from({ length: 8 }, (_, id) => new WrittenJson({ id, name: `é ${id}` }))

test('a list is what would be written anew, whatever was asked for before', () => {
  const asked = fc.record({
    owner: fc.constantFrom('', 'shop', 'neighbour'),
    some: fc.array(fc.constantFrom(...items), { maxLength: 5 }),
    links: fc.array(fc.constantFrom('next', 'previous'), { maxLength: 2 }),
  })
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 40 }), fc.nat(200), (asks, mostBytes) => {
      const known = new KnownLists(mostBytes)
      for (const { owner, some, links } of asks)
        expect(known.answer(owner, 'things', some, { links })?.body.toString()).toBe(
          JSON.stringify({ things: some, links }),
        )
    }),
  )
})

test('readers of the same list share its bytes, and a list that nobody asks for gives way', () => {
  const rest = { links: [] }
  const [first, second] = [items.slice(0, 4), items.slice(4)]
  const bytes = Buffer.byteLength(JSON.stringify({ things: first, ...rest }))
  const known = new KnownLists(2 * bytes)
  const ask = (owner: string, some = first) => known.answer(owner, 'things', some, rest)
  const [shop, neighbour] = [ask('shop'), ask('neighbour')]
  expect(ask('shop')).toBe(shop)
  ask('third')
  expect(ask('shop')).toBe(shop)
  expect(ask('neighbour')).not.toBe(neighbour)
  expect(ask('neighbour', second)).not.toBe(ask('neighbour'))
})

test('a long list is not kept', () => {
  const long = [new WrittenJson({ name: 'x'.repeat(600_000) })]
  const known = new KnownLists()
  expect(known.answer('shop', 'things', items, { links: [] })).not.toBeNull()
  expect(known.answer('shop', 'things', long, { links: [] })).toBeNull()
})

const names = loadBalancerResource.fields.flatMap(({ name, read }) => (read === null ? [] : [name]))
/** A query that names each attribute. Such an answer is never taken from the cache. */
const ANEW = names.map((name) => `fields=${name}`).join('&')

test('after any changes lists and load balancers are answered as if nothing had been kept', async () => {
  const service = await TestService.start()
  const { view, status, ids } = service
  const pick = (at: number) => {
    const all = view.list('loadBalancer')
    return all[at % Math.max(1, all.length)]
  }
  const changes: readonly ((at: number) => unknown)[] = [
    (at) => service.call('POST', '/loadbalancers', { loadbalancer: { name: `web ${at}`, vip_network_id: ids.pool } }),
    (at) => service.call('PUT', `/loadbalancers/${pick(at)?.id}`, { loadbalancer: { name: `other ${at}` } }),
    (at) => service.call('DELETE', `/loadbalancers/${pick(at)?.id}?cascade=true`),
    (at) =>
      service.call('POST', '/listeners', {
        listener: { loadbalancer_id: pick(at)?.id, protocol: 'TCP', protocol_port: 1 + (at % 60_000) },
      }),
    (at) => status.set(pick(at)?.id ?? '', statusOf(at % 2 === 0 ? {} : { provisioning: 'error' })),
  ]
  const expectSame = async (path: string) => {
    const { body: fresh } = await service.call('GET', `${path}${path.includes('?') ? '&' : '?'}${ANEW}`)
    for (const _ of [1, 2]) expect(withoutLinks((await service.call('GET', path)).body)).toEqual(withoutLinks(fresh))
  }
  const steps = fc.array(fc.tuple(fc.nat(changes.length - 1), fc.nat(100_000)), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(steps, async (chosen) => {
      for (const [which, at] of chosen) {
        await changes[which]?.(at)
        for (const path of ['/loadbalancers', '/loadbalancers?limit=2', `/loadbalancers?project_id=${ids.project}`])
          await expectSame(path)
        const lb = pick(at)
        if (lb !== undefined) await expectSame(`/loadbalancers/${lb.id}`)
      }
    }),
    { numRuns: 5 },
  )
  await service.stop()
})

/** Links repeat the query. */
const withoutLinks = (body: unknown): unknown => ({ ...(body as object), loadbalancers_links: undefined })
