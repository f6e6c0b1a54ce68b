import { type ChildProcess, spawn } from 'node:child_process'
import readline from 'node:readline'
import { waitFor } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Arrangement } from '../testing/arrangement.ts'
import { BEHIND, joinRoutedMember, ROUTER } from '../testing/domain/routed-member.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { LabNode } from '../testing/lab-node.ts'
import { type Peer, SILENCE_MS } from '../testing/peer-client.ts'
import { run } from './run.ts'

const signal = new AbortController().signal
const VIP = { 4: '10.9.0.100', 6: 'fd09::100' } as const
const SERVICES = [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' })]
const MEMBERS = [member('p4', BEHIND.member[4]), member('p6', BEHIND.member[6])]

const gateway = domainEntry(1, { routes: BEHIND.routes })
const snat = domainEntry(1, { routes: BEHIND.routes, returnPath: 'snat', gateway: null })

let lab: Arrangement
let node: LabNode
let client: Peer

beforeAll(async () => {
  lab = await Arrangement.create()
  await joinRoutedMember(lab)
  node = await LabNode.start(lab, 'node1')
  client = lab.peer('client')
  await node.domains.adopt([])
})

afterAll(async () => {
  await node?.end([1])
  await lab?.[Symbol.asyncDispose]()
})

afterEach(async () => {
  await node.announcer.apply([], signal)
  await node.driver.apply({ put: [], remove: ['lb/a'] }, signal)
})

async function domain(entry: typeof gateway): Promise<void> {
  expect(await node.domains.apply({ put: [entry], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
}

/** Applies a load balancer for these members, and announces its VIPs. */
async function balance(entry: typeof gateway, members = MEMBERS): Promise<void> {
  await domain(entry)
  const one = wanted('a', entry, {
    vips: [vip(VIP[4]), vip(VIP[6])],
    services: SERVICES,
    pools: [pool(5, members)],
  })
  expect(await node.driver.apply({ put: [one], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  const announcements = Object.values(VIP).map((address) => ({
    ...{ address, scope: 'fabric' as const, domain: 1, by: { via: 'l2' as const } },
  }))
  expect((await node.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

const inDomain = (command: string) => lab.run('node1', `nsenter --net=/run/netns/${node.config.instance}-d1 ${command}`)

describe.each([
  ['gateway', gateway, { 4: '10.9.0.9', 6: 'fd09::9' }],
  ['snat', snat, { 4: '10.0.0.250', 6: 'fd01::250' }],
] as const)('a member behind a router, return path %s', (_, entry, seen) => {
  it('is reached over TCP and UDP, IPv4 and IPv6', async () => {
    await balance(entry)
    for (const version of [4, 6] as const) {
      expect(await client.connect(VIP[version], 80)).toBe(`pod ${seen[version]}`)
      expect(await client.datagram(VIP[version], 53)).toBe(`pod ${seen[version]}`)
    }
    const { connection } = await client.open(VIP[4], 80)
    expect(await client.say(connection, 'hello')).toBe('hello')
    await client.close(connection)
  })

  it('shares a pool with members of the segment', async () => {
    await balance(entry, [...MEMBERS, member('m1', '10.0.0.11'), member('m3', 'fd01::11')])
    for (const version of [4, 6] as const) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => client.connect(VIP[version], 80)))
      expect([...new Set(answers)].sort()).toEqual([`pod ${seen[version]}`, `red1 ${seen[version]}`])
    }
  })

  it('answers clients of its segment and the one behind the same router, by way of the node', async () => {
    await balance(entry)
    for (const place of ['red1', 'pod']) {
      const route = place === 'pod' ? 'router' : place
      await lab.run(route, `ip route replace ${VIP[4]} via 10.0.0.250`)
      await lab.run(route, `ip -6 route replace ${VIP[6]} via fd01::250`)
      expect(await lab.peer(place).connect(VIP[4], 80)).toBe('pod 10.0.0.250')
      expect(await lab.peer(place).connect(VIP[6], 80)).toBe('pod fd01::250')
    }
  })

  it('is reached from the domain itself, as probes and the proxy do', async () => {
    await domain(entry)
    const netns = node.domains.netns(1)
    for (const address of Object.values(BEHIND.member)) {
      expect(await node.helper.connect({ netns, address, port: 8080, timeoutMs: 3_000 })).toMatchObject({
        connected: true,
      })
      expect(await node.helper.ping({ netns, address, timeoutMs: 3_000 })).toMatchObject({ answered: true })
    }
  })

  it('may send from addresses behind its routes, and no others', async () => {
    await balance(entry)
    await lab.run('router', `ip route replace ${VIP[4]} via 10.0.0.250`)
    await lab.run('router', `ip -6 route replace ${VIP[6]} via fd01::250`)
    for (const version of [4, 6] as const) {
      const pod = lab.peer('pod')
      expect(await pod.connect(VIP[version], 80, { source: BEHIND.member[version] })).toMatch(/^pod /)
      expect(await pod.connect(VIP[version], 80, { source: BEHIND.stray[version], withinMs: SILENCE_MS })).toBe(
        'ETIMEDOUT',
      )
    }
  })
})

describe('routes that change', () => {
  const many = (count: number, via: string = ROUTER[4]) =>
    Array.from({ length: count }, (_, at) => ({ to: `10.${100 + (at >> 8)}.${at & 255}.0/24`, via }))
  const withRoutes = (...routes: readonly { to: string; via: string }[]) =>
    domainEntry(1, { routes: [...BEHIND.routes, ...routes] })

  it('are changed by their difference alone, and flows over the others go on', async () => {
    const before = many(1_000)
    await balance(withRoutes(...before))
    const { connection } = await client.open(VIP[4], 80)
    const monitor = await RouteMonitor.start(`${node.config.instance}-d1`)
    const moved = { to: before[500]!.to, via: '10.0.0.11' }
    const after = [...before.slice(1, 500), moved, ...before.slice(501), { to: '10.200.0.0/16', via: ROUTER[4] }]
    await domain(withRoutes(...after))
    expect((await monitor.stop()).toSorted()).toEqual([
      `${moved.to} via ${moved.via}`,
      `10.200.0.0/16 via ${ROUTER[4]}`,
      `Deleted ${before[0]!.to} via ${ROUTER[4]}`,
    ])
    expect(await client.say(connection, 'still here')).toBe('still here')
    await domain(gateway)
    expect(await client.say(connection, 'still here')).toBe('still here')
    expect(await inDomain('ip route show dev segment via 10.0.0.21')).toBe('10.244.3.0/24 proto static \n')
    await client.close(connection)
  })

  it('change nothing when an agent adopts them', async () => {
    const entry = withRoutes(...many(1_000))
    await domain(entry)
    await node.die()
    node = await LabNode.start(lab, 'node1')
    await node.domains.adopt([entry])
    await domain(entry)
    expect(node.domains.counters.changes).toBe(0)
  })

  it('are removed with the last one, and addresses behind it are refused again', async () => {
    await balance(gateway)
    expect(await client.connect(VIP[4], 80)).toBe('pod 10.9.0.9')
    await domain(domainEntry(1))
    expect(await inDomain('ip route show dev segment')).not.toContain('via')
    expect(await inDomain('nft list table inet spout-guard')).not.toContain('fib')
    expect(await client.connect(VIP[4], 80, { withinMs: SILENCE_MS })).not.toMatch(/^pod/)
  })
})

/** Records the changes of a namespace's routes, with `ip monitor`. */
class RouteMonitor {
  readonly #namespace: string
  readonly #child: ChildProcess
  readonly #lines: string[] = []

  private constructor(namespace: string) {
    this.#namespace = namespace
    this.#child = spawn('ip', ['-n', namespace, 'monitor', 'route'], { stdio: ['ignore', 'pipe', 'inherit'] })
    readline.createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#lines.push(line))
  }

  static async start(namespace: string): Promise<RouteMonitor> {
    const monitor = new RouteMonitor(namespace)
    await monitor.#mark('192.0.2.1').catch((error: unknown) => {
      monitor.#child.kill()
      throw error
    })
    monitor.#lines.length = 0
    return monitor
  }

  /** Every change since the start: `TO via ROUTER`, deleted ones with that word before it. */
  async stop(): Promise<readonly string[]> {
    await this.#mark('192.0.2.2')
    this.#child.kill()
    return this.#lines.flatMap((line) => /^(?:Deleted )?\S+ via \S+/.exec(line)?.[0] ?? [])
  }

  /**
   * Makes and deletes a route of our own until it is seen in the stream. Then all earlier changes were seen as well. It
   * must be deleted each time: the kernel reports no route that replaces an equal one, so a route from before
   * `ip monitor` listens would never be seen.
   */
  async #mark(address: string): Promise<void> {
    await waitFor(
      async () => {
        for (const verb of ['add', 'del'])
          await run('ip', ['-n', this.#namespace, 'route', verb, 'blackhole', address, 'table', '999'])
        return this.#lines.some((line) => line.includes(address))
      },
      { what: `${address} in ip monitor`, timeoutMs: 60_000 },
    )
  }
}
