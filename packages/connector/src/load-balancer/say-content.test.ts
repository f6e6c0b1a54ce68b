import { Refused } from '@spout/client/native-api'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import type { LoadBalancerContent } from '../content/content.ts'
import { alikeParts } from '../content/content-difference.ts'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { LeftOut } from './left-out.ts'
import { replace, type SayContext, withoutRefused } from './say-content.ts'

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
      // The routes arrive while the answer is under way.
      leftOut.forgetAll()
      throw new Refused('MemberOutsideNetworks', 'm', 'pools[0].members[0].address')
    }
    return {} as ShownLoadBalancer
  })
  expect(said).toEqual([1, 1])
  expect(leftOut.has('lb')).toBe(false)
})

test('of many members all that one answer names are left out at once', async () => {
  const leftOut = new LeftOut(new FakeClock(), 30_000)
  const context = { leftOut, known: { answered: () => {} } } as unknown as SayContext
  const members = Array.from({ length: 5000 }, (_, at) => ({
    ...{ name: '', address: `10.${at >> 8}.${at & 255}.1`, port: 80, weight: 1, monitorPort: null },
  }))
  const whole = { ...content, pools: [{ ...content.pools[0]!, name: 'uid/tcp/80', members }] }
  const said: number[] = []
  await withoutRefused(context, 'lb', whole, async ({ pools }) => {
    said.push(pools[0]!.members.length)
    const outside = pools[0]!.members.flatMap(({ address }, at) =>
      address.startsWith('10.0.') ? [] : [`pools[0].members[${at}].address`],
    )
    const [first] = outside
    if (first === undefined) return {} as ShownLoadBalancer
    throw new Refused('MemberOutsideNetworks', `Field ${first}: it is in no network`, first, outside.slice(0, 1000))
  })
  expect(said).toEqual([5000, 4000, 3000, 2000, 1000, 256])
  expect(leftOut.of('lb', 'uid')).toEqual({ count: 4744, reason: 'it is in no network' })
})

test('hosts that are refused are left out of their routes; a route without any other goes', async () => {
  const leftOut = new LeftOut(new FakeClock(), 30_000)
  const context = { leftOut, known: { answered: () => {} } } as unknown as SayContext
  const route = (name: string, ...values: string[]) => ({
    name,
    conditions: [{ on: 'host' as const, compare: 'exact' as const, values, not: false }],
    action: { type: 'respond' as const, code: 404 },
  })
  const whole: LoadBalancerContent = {
    ...content,
    listeners: [
      {
        ...{ name: 'web', protocol: 'http', port: 80, defaultPool: 'web', allowedCidrs: null },
        routes: [route('u1/a', 'a.x', 'a.theirs'), route('u2/b', 'b.theirs'), route('u2/c', 'a.theirs', 'c.x')],
      },
    ],
  }
  const hostsOf = ({ listeners }: LoadBalancerContent) =>
    listeners[0]?.routes?.map(({ conditions }) => conditions.flatMap((one) => (one.on === 'host' ? one.values : [])))
  const said: unknown[] = []
  await withoutRefused(context, 'lb', whole, async (now) => {
    said.push(hostsOf(now))
    const fields = (hostsOf(now) ?? []).flatMap((hosts, at) =>
      hosts.flatMap((host, place) =>
        host.endsWith('.theirs') ? [`listeners[0].routes[${at}].conditions[0].values[${place}]`] : [],
      ),
    )
    if (fields.length > 0) {
      const message = `Field ${fields[0]}: routes of this project may not name a.theirs: why`
      throw new Refused('HostNotAllowed', message, fields[0], fields)
    }
    return {} as ShownLoadBalancer
  })
  // One refusal names all of them.
  expect(said).toEqual([
    [['a.x', 'a.theirs'], ['b.theirs'], ['a.theirs', 'c.x']],
    [['a.x'], ['c.x']],
  ])
  expect(leftOut.hosts('lb', whole)).toEqual([
    { uid: 'u1', host: 'a.theirs', reason: 'why', route: 'u1/a' },
    { uid: 'u2', host: 'b.theirs', reason: 'why', route: 'u2/b' },
    { uid: 'u2', host: 'a.theirs', reason: 'why', route: 'u2/c' },
  ])
})

test.each([
  ['a control plane that has no such call', new Refused('NotFound', 'Path /x not found', null), ['routes', 'whole']],
  ['one that takes it', null, ['routes']],
])('routes that change go to %s', async (_, refusal, calls) => {
  const route = (code: number) => ({ name: 'u/r', conditions: [], action: { type: 'respond' as const, code } })
  const [listener] = content.listeners
  const wanted: LoadBalancerContent = { ...content, listeners: [{ ...listener!, routes: [route(503)] }] }
  const stored = {
    ...{ ...content, id: 'lb', enabled: true, pools: [{ ...content.pools[0]!, id: 'p' }] },
    listeners: [{ ...listener!, id: 'l', defaultPoolId: 'p', routes: [{ ...route(404), id: 'r', enabled: true }] }],
  }
  const shown = { document: stored } as unknown as ShownLoadBalancer
  const said: string[] = []
  const service = {
    changeRoutes: async () => {
      said.push('routes')
      if (refusal !== null) throw refusal
      return shown
    },
    replace: async () => {
      said.push('whole')
      return shown
    },
  }
  const known = { answered: () => {}, get: () => shown, alike: alikeParts(), says: new WeakMap() }
  const leftOut = new LeftOut(new FakeClock(), 30_000)
  await replace({ leftOut, known, service } as unknown as SayContext, wanted, shown)
  expect(said).toEqual(calls)
})
