import { Refused } from '@spout/client/native-api'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import type { LoadBalancerContent } from '../content/content.ts'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { LeftOut } from './left-out.ts'
import { type SayContext, withoutRefused } from './say-content.ts'

const content: LoadBalancerContent = {
  name: 'shop/web',
  annotations: {},
  listeners: [{ name: 'web', protocol: 'tcp', port: 80, defaultPool: 'web', allowedCidrs: null }],
  pools: [
    {
      name: 'web',
      protocol: 'tcp',
      persistence: null,
      panicThreshold: 10,
      drainSeconds: 300,
      members: [{ name: '', address: '10.1.0.1', port: 8080, weight: 1, monitorPort: null }],
      monitor: null,
    },
  ],
}

test('a name that is refused is left out, the others are said', async () => {
  const leftOut = new LeftOut(new FakeClock(), 30_000)
  const context = { leftOut, known: { answered: () => {} } } as unknown as SayContext
  const said: unknown[] = []
  const refuse = async ({ dnsNames, dnsTtlSeconds }: LoadBalancerContent) => {
    said.push([dnsNames, dnsTtlSeconds])
    const at = dnsNames?.findIndex((name) => name !== 'b.example') ?? -1
    if (at >= 0) throw new Refused('InvalidField', `Field dnsNames[${at}]: no domain covers it`, `dnsNames[${at}]`)
    return {} as ShownLoadBalancer
  }
  const named = { ...content, dnsNames: ['a.example', 'b.example'], dnsTtlSeconds: 60 }
  await withoutRefused(context, 'lb', named, refuse)
  expect(said).toEqual([
    [['a.example', 'b.example'], 60],
    [['b.example'], 60],
  ])
  expect(leftOut.name('lb', ['b.example', 'a.example'])).toEqual({ name: 'a.example', reason: 'no domain covers it' })
  said.length = 0
  await withoutRefused(context, 'other', { ...named, dnsNames: ['a.example'] }, refuse)
  expect(said).toEqual([
    [['a.example'], 60],
    [undefined, undefined],
  ])
})

test('a member that is refused while routes change is not left out: the answer is outdated', async () => {
  const leftOut = new LeftOut(new FakeClock(), 30_000)
  const context = { leftOut, known: { answered: () => {} } } as unknown as SayContext
  const said: number[] = []
  await withoutRefused(context, 'lb', content, async ({ pools }: LoadBalancerContent) => {
    said.push(pools[0]?.members.length ?? 0)
    if (said.length === 1) {
      // The routes come while the answer is on its way.
      leftOut.forgetAll()
      throw new Refused('MemberOutsideNetworks', 'm', 'pools[0].members[0].address')
    }
    return {} as ShownLoadBalancer
  })
  expect(said).toEqual([1, 1])
  expect(leftOut.has('lb')).toBe(false)
})
