import { waitFor } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Arrangement } from '../testing/arrangement.ts'
import { joinPods, podAddress } from '../testing/domain/node-pods.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { bindAsIpvs } from '../testing/ipvs-addresses.ts'
import { LabNode } from '../testing/lab-node.ts'
import type { Peer } from '../testing/peer-client.ts'

// A segment that is reached through the node's own routes. Members are pods of the node's cluster, here and on another
// node.

const signal = new AbortController().signal
const VERSIONS = [4, 6] as const
const VIP = { 4: '10.9.0.100', 6: 'fd09::100' } as const
/** Of a kube-proxy first. */
const TAKEN = { 4: '10.9.0.101', 6: 'fd09::101' } as const
/** The subnets of the veth pair between domain and root, which nobody else knows. */
const LINK = [
  { cidr: '100.127.0.0/20', nodeAddress: '100.127.15.254', gatewayIp: '100.127.0.1', sharedAddress: null },
  {
    cidr: 'fd73:706f:7575::/64',
    nodeAddress: 'fd73:706f:7575::fffe',
    gatewayIp: 'fd73:706f:7575::1',
    sharedAddress: null,
  },
] as const
const SHARED = ['100.127.15.252', 'fd73:706f:7575::fffd']

const entry = domainEntry(1, {
  segment: { physicalNetwork: 'cluster', vlan: null },
  returnPath: 'snat',
  gateway: null,
  subnets: LINK,
  routes: [
    { to: '10.244.0.0/16', via: LINK[0].gatewayIp },
    { to: 'fd44::/16', via: LINK[1].gatewayIp },
  ],
})

let lab: Arrangement
let node: LabNode
let client: Peer

const start = () => LabNode.start(lab, 'node1', () => null, 0, { hostSegments: ['cluster'] })

beforeAll(async () => {
  lab = await Arrangement.create()
  await joinPods(lab)
  node = await start()
  client = lab.peer('client')
  await node.domains.adopt([])
  expect(await node.domains.apply({ put: [entry], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
})

afterAll(async () => {
  await node?.end([1])
  await lab?.[Symbol.asyncDispose]()
})

type PodName = 'pod1' | 'pod2'

const balance = (...pods: readonly PodName[]): Promise<void> => balanceAt(VIP, ...pods)

async function balanceAt(vips: typeof VIP | typeof TAKEN, ...pods: readonly PodName[]): Promise<void> {
  const members = pods.flatMap((pod) =>
    VERSIONS.map((version) => member(`${pod}-${version}`, podAddress(pod)[version])),
  )
  const one = wanted('a', entry, {
    vips: [vip(vips[4]), vip(vips[6])],
    services: [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' })],
    pools: [pool(5, members)],
  })
  expect(await node.driver.apply({ put: [one], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  const announcements = Object.values(vips).map((address) => ({
    ...{ address, scope: 'fabric' as const, domain: 1, by: { via: 'l2' as const } },
  }))
  expect((await node.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

it('reaches a pod of the node, which sees the node as it sees it always', async () => {
  await balance('pod1')
  expect(await client.connect(VIP[4], 80)).toBe('pod1 10.244.1.1')
  expect(await client.connect(VIP[6], 80)).toBe('pod1 fd44:1::1')
  expect(await client.datagram(VIP[4], 53)).toBe('pod1 10.244.1.1')
  expect(await client.datagram(VIP[6], 53)).toBe('pod1 fd44:1::1')
})

it("reaches a pod of another node by the node's own routes, and its answers come back", async () => {
  await balance('pod2')
  expect(await client.connect(VIP[4], 80)).toBe('pod2 10.9.0.1')
  expect(await client.connect(VIP[6], 80)).toBe('pod2 fd09::1')
  const { connection } = await client.open(VIP[4], 80)
  expect(await client.say(connection, 'hello')).toBe('hello')
  await client.close(connection)
})

it('answers what comes to a node that has not the address that nodes share', async () => {
  const subnets = LINK.map((subnet, index) => ({ ...subnet, sharedAddress: SHARED[index] ?? null }))
  const shared = domainEntry(1, { ...entry, subnets, gateway: { via: 'vrrp', shard: 1 } })
  try {
    expect(await node.domains.apply({ put: [shared], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
    await balance('pod1')
    for (const vip of Object.values(VIP)) expect(await client.connect(vip, 80)).toMatch(/^pod1 /)
  } finally {
    await node.domains.apply({ put: [entry], remove: [] }, signal)
  }
})

describe('beside a kube-proxy', () => {
  const proxy = (...chains: readonly string[]) =>
    lab.run('node1', `nft table inet kube-proxy { ${chains.join('; ')}; }`)

  afterEach(() => lab.run('node1', 'nft delete table inet kube-proxy'))

  it('answers although that drops what the node calls invalid', async () => {
    await proxy('chain forward { type filter hook forward priority filter; ct state invalid drop; }')
    await balance('pod1')
    for (const vip of Object.values(VIP)) expect(await client.connect(vip, 80)).toMatch(/^pod1 /)
  })

  it('takes an address over from it, and answers a client that uses a port again', async () => {
    const from = { sourcePort: 42_000 }
    const fabric = JSON.parse(await lab.run('node1', 'ip -j link show dev fab0')) as readonly [{ address: string }]
    await lab.run('node1', 'sysctl -qw net.netfilter.nf_conntrack_tcp_timeout_close=120')
    const rules = VERSIONS.map((version) => {
      const [ip, to] = version === 4 ? ['ip', podAddress('pod2')[4]] : ['ip6', `[${podAddress('pod2')[6]}]`]
      return `${ip} daddr ${TAKEN[version]} tcp dport 80 dnat ${ip} to ${to}:8080;`
    })
    await proxy(
      `chain services { type nat hook prerouting priority dstnat; ${rules.join(' ')} }`,
      'chain masquerading { type nat hook postrouting priority srcnat; ct status dnat masquerade; }',
    )
    for (const vip of Object.values(TAKEN)) {
      await lab.run('client', `ip neighbour replace ${vip} lladdr ${fabric[0].address} dev eth0`)
      const { connection, line } = await client.open(vip, 80, from)
      expect(line).toMatch(/^pod2 /)
      await client.reset(connection)
    }
    await balanceAt(TAKEN, 'pod1')
    for (const vip of Object.values(TAKEN)) expect(await client.connect(vip, 80, from)).toMatch(/^pod1 /)
  })
})

it('answers beside a host firewall that forwards nothing but what comes from and goes to its interfaces', async () => {
  const { instance } = node.config
  const ours = ['iifname', 'oifname'].map((end) => `${end} { "${instance}u*", "${instance}h*" } accept;`).join(' ')
  const policy = 'type filter hook forward priority filter; policy drop;'
  await lab.run('node1', `nft table inet host-firewall { chain forward { ${policy} ${ours} }; }`)
  try {
    await balance('pod1')
    for (const vip of Object.values(VIP)) expect(await client.connect(vip, 80)).toMatch(/^pod1 /)
  } finally {
    await lab.run('node1', 'nft delete table inet host-firewall')
  }
})

it('beside a kube-proxy in mode ipvs with strictARP, which binds the addresses on every node, they lead to pods', async () => {
  const addresses = Object.values(VIP)
  await node.announcer.apply([], signal)
  await using _here = await bindAsIpvs(lab, 'node1', addresses)
  await using _there = await bindAsIpvs(lab, 'node2', addresses)
  // What the node itself would answer, as it has the addresses.
  const itself = lab.adopt('node1-as-host', lab.namespace('node1'))
  for (const port of [80, 53]) await itself.serve(port)
  for (const pod of ['pod1', 'pod2'] as const) {
    await balance(pod)
    for (const vip of addresses) {
      await lab.run('client', `ip neighbour flush to ${vip}`)
      expect(await client.connect(vip, 80)).toMatch(new RegExp(`^${pod} `))
      expect(await client.datagram(vip, 53)).toMatch(new RegExp(`^${pod} `))
    }
  }
})

it('probes pods from the domain', async () => {
  const netns = node.domains.netns(1)
  for (const pod of ['pod1', 'pod2'] as const)
    for (const address of Object.values(podAddress(pod))) {
      const outcome = await node.helper.connect({ netns, address, port: 8080, timeoutMs: 3_000 })
      expect(outcome).toMatchObject({ connected: true })
      expect(await node.helper.ping({ netns, address, timeoutMs: 3_000 })).toMatchObject({ answered: true })
    }
})

it('lets nothing in from outside, and the domain does not reach the node itself', async () => {
  await lab.run('pod1', `ip route replace ${LINK[0].cidr} via 10.244.1.1`)
  await lab.run('client', `ip route replace ${LINK[0].cidr} via 10.9.0.1`)
  const listening = lab.adopt('node1-itself', lab.namespace('node1'))
  await listening.serve(8080)
  const pinged = (place: string) =>
    lab.run(place, `ping -c 1 -W 1 ${LINK[0].nodeAddress}`).then(
      () => 'answered',
      () => 'nothing',
    )
  expect(await pinged('pod1')).toBe('nothing')
  expect(await pinged('client')).toBe('nothing')
  const netns = node.domains.netns(1)
  const outcome = await node.helper.connect({ netns, address: LINK[0].gatewayIp, port: 8080, timeoutMs: 1_000 })
  expect(outcome).toMatchObject({ connected: false })
})

it('a new process changes nothing; lost parts are found and created again', async () => {
  await balance('pod1', 'pod2')
  await node.die()
  node = await start()
  await node.domains.adopt([entry])
  expect(node.domains.counters.changes).toBe(0)
  expect(await node.domains.observe()).toEqual([])
  await lab.run('node1', `ip link delete dev ${node.config.instance}h1`)
  expect(await node.domains.observe()).toEqual(['domain/1'])
  expect(await node.domains.apply({ put: [entry], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  await balance('pod1')
  await waitFor(async () => (await client.connect(VIP[4], 80)) === 'pod1 10.244.1.1', { what: 'the pod to answer' })
})

it('is removed completely', async () => {
  expect(await node.domains.apply({ put: [], remove: [entry.key] }, signal)).toEqual([])
  expect(await lab.run('node1', 'ip -o link show')).not.toContain(`${node.config.instance}h1`)
  expect(await lab.run('node1', 'ip route show')).not.toContain('100.127.')
})
