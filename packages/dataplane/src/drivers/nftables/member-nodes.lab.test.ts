import type { DomainHosts, NodeMember, NodePool } from '@spout/model/node-state'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { WantedEntry } from '../../contracts/driver.ts'
import { run } from '../../domain/run.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { joinPods, podAddress } from '../../testing/domain/node-pods.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { bindAsIpvs } from '../../testing/ipvs-addresses.ts'
import { LabNode } from '../../testing/lab-node.ts'
import type { Peer } from '../../testing/peer-client.ts'

// Return path node: nodes host the members. Each node translates to its own pods, whichever node has the address.

const signal = new AbortController().signal
const VIP = { 4: '10.9.0.100', 6: 'fd09::100' } as const
const CLIENT = { 4: '10.9.0.9', 6: 'fd09::9' } as const
const NODES = { node1: 1, node2: 2 } as const
/** As the planner numbers nodes: multiples of 16. */
const numberOf = (node: NodeName): number => 16 * NODES[node]
type NodeName = keyof typeof NODES
const NAMES = Object.keys(NODES) as readonly NodeName[]
const VERSIONS = [4, 6] as const

const domainOf = (node: NodeName) => {
  const own = NODES[node]
  return domainEntry(1, {
    segment: { physicalNetwork: 'cluster', vlan: null },
    returnPath: 'node',
    gateway: null,
    subnets: [
      { cidr: '100.127.0.0/20', nodeAddress: `100.127.15.25${own}`, gatewayIp: '100.127.0.1', sharedAddress: null },
      {
        cidr: 'fd73:706f:7575::/64',
        nodeAddress: `fd73:706f:7575::fff${own}`,
        gatewayIp: 'fd73:706f:7575::1',
        sharedAddress: null,
      },
    ],
    routes: [
      { to: '10.244.0.0/16', via: '100.127.0.1' },
      { to: 'fd44::/16', via: 'fd73:706f:7575::1' },
    ],
    hosts: {
      vni: 1,
      own: numberOf(node),
      address: `10.9.0.${own}`,
      peers: NAMES.filter((name) => name !== node).map((name) => {
        return { number: numberOf(name), address: `10.9.0.${NODES[name]}` }
      }),
      prefixes: NAMES.flatMap((name) => [
        { to: `10.244.${NODES[name]}.0/24`, host: numberOf(name) },
        { to: `fd44:${NODES[name]}::/64`, host: numberOf(name) },
      ]),
    },
  })
}

let lab: Arrangement
let nodes: Record<NodeName, LabNode>
const applied = new Map<NodeName, WantedEntry>()
let client: Peer

const start = async (node: NodeName): Promise<LabNode> =>
  LabNode.start(lab, node, () => null, 0, { hostSegments: ['cluster'] })

beforeAll(async () => {
  lab = await Arrangement.create()
  await joinPods(lab)
  for (const name of NAMES) {
    // Strict, and what kube-proxy drops: answers whose requests root has not seen.
    await lab.run(name, 'sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.default.rp_filter=1')
    const drop =
      'table inet proxy { chain forward { type filter hook forward priority filter; ct state invalid drop; }; }'
    await run('ip', ['netns', 'exec', lab.namespace(name), 'nft', drop])
  }
  nodes = { node1: await start('node1'), node2: await start('node2') }
  for (const name of NAMES) {
    await nodes[name].domains.adopt([])
    const put = [domainOf(name)]
    expect(await nodes[name].domains.apply({ put, remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
    await nodes[name].driver.adopt([])
  }
  client = lab.peer('client')
})

afterAll(async () => {
  for (const node of Object.values(nodes ?? {})) await node.end([1])
  await lab?.[Symbol.asyncDispose]()
})

type PodName = 'pod1' | 'pod2'

const membersOf = (pods: readonly PodName[]): readonly NodeMember[] =>
  pods.flatMap((pod) => VERSIONS.map((version) => member(`${pod}-${version}`, podAddress(pod)[version])))

/** Members keep their slots from one call to the next, as the planner's tables do. */
async function balance(
  pods: readonly PodName[],
  down: readonly string[] = [],
  names: readonly NodeName[] = NAMES,
  fields: Partial<NodePool> = {},
): Promise<void> {
  for (const name of names) {
    const one = wanted(
      'a',
      domainOf(name),
      {
        vips: [vip(VIP[4]), vip(VIP[6])],
        services: [service('l1', 80, 5), service('l2', 53, 6, { protocol: 'udp' })],
        pools: [pool(5, membersOf(pods), fields), pool(6, membersOf(pods))],
      },
      down,
    )
    expect(await nodes[name].driver.apply({ put: [one], remove: [] }, signal)).toEqual([
      { key: 'lb/a', state: 'programmed', reason: null, message: null },
    ])
    applied.set(name, one)
  }
}

/** A new process of the node's agent, which has what the former one wrote down. */
async function restart(name: NodeName): Promise<void> {
  await nodes[name].die()
  nodes = { ...nodes, [name]: await start(name) }
  const { domains, driver } = nodes[name]
  await domains.adopt([domainOf(name)])
  await driver.adopt([...applied].flatMap(([at, one]) => (at === name ? [one] : [])))
  expect(domains.counters.changes).toBe(0)
  expect(await driver.observe()).toEqual([])
  expect(driver.counters.transactions).toBe(0)
}

/** Packets for the VIPs go to this node from now on. */
async function leadTo(node: NodeName): Promise<void> {
  await lab.run('client', `ip route replace ${VIP[4]}/32 via 10.9.0.${NODES[node]}`)
  await lab.run('client', `ip -6 route replace ${VIP[6]}/128 via fd09::${NODES[node]}`)
}

const both = (seen: string): readonly string[] => [`pod1 ${seen}`, `pod2 ${seen}`]

interface Flow {
  readonly connection: number
  readonly pod: string
}

async function openFlows(version: 4 | 6, count = 24): Promise<readonly Flow[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => client.open(VIP[version], 80)))
  return opened.map(({ connection, line }) => ({ connection, pod: line.split(' ')[0]! }))
}

/** How many of the flows carry a text and its echo. */
async function alive(flows: readonly Flow[], text: string): Promise<number> {
  const said = await Promise.all(flows.map(({ connection }) => client.say(connection, text).catch(() => '')))
  return said.filter((answer) => answer === text).length
}

const closeAll = (flows: readonly Flow[]) => Promise.all(flows.map(({ connection }) => client.close(connection)))

it.each(NAMES)('pods of both nodes see the client when %s has the address, over TCP and UDP', async (owner) => {
  await balance(['pod1', 'pod2'])
  await leadTo(owner)
  for (const version of VERSIONS) {
    const tcp = await Promise.all(Array.from({ length: 30 }, () => client.connect(VIP[version], 80)))
    expect([...new Set(tcp)].sort()).toEqual(both(CLIENT[version]))
    const udp = await Promise.all(Array.from({ length: 30 }, () => client.datagram(VIP[version], 53)))
    expect([...new Set(udp)].sort()).toEqual(both(CLIENT[version]))
  }
})

it.each(VERSIONS)('carries more than a segment in both directions over IPv%i', async (version) => {
  await balance(['pod2'])
  await leadTo('node1')
  const [flow] = await openFlows(version, 1)
  expect(await alive([flow!], 'x'.repeat(300_000))).toBe(1)
  await closeAll([flow!])
})

it.each(VERSIONS)(
  'flows over IPv%i go on when the address moves, to pods of the node it leaves, too',
  async (version) => {
    await balance(['pod1', 'pod2'])
    await leadTo('node1')
    const flows = await openFlows(version)
    expect(await alive(flows, 'before')).toBe(flows.length)
    await leadTo('node2')
    expect(await alive(flows, 'after')).toBe(flows.length)
    await closeAll(flows)
  },
)

it.each(VERSIONS)('only flows to pods of a node that dies end with it, over IPv%i', async (version) => {
  await balance(['pod1', 'pod2'])
  await leadTo('node1')
  const flows = await openFlows(version)
  const survivors = flows.filter(({ pod }) => pod === 'pod2')
  expect(survivors.length).toBeGreaterThan(0)
  await lab.run('switch', 'ip link set dev node1-fab0 down')
  try {
    await leadTo('node2')
    await balance(['pod1', 'pod2'], ['pod1-4', 'pod1-6'])
    expect(await alive(survivors, 'after')).toBe(survivors.length)
    expect(await client.connect(VIP[version], 80)).toBe(`pod2 ${CLIENT[version]}`)
  } finally {
    await lab.run('switch', 'ip link set dev node1-fab0 up')
    await Promise.all(flows.map(({ connection }) => client.reset(connection)))
  }
})

it.each(VERSIONS)('flows over IPv%i go on when pods come and go, whose slots they had', async (version) => {
  await balance(['pod1'])
  await leadTo('node2')
  const flows = await openFlows(version)
  await balance(['pod1', 'pod2'])
  expect(await alive(flows, 'more pods')).toBe(flows.length)
  const fresh = await openFlows(version)
  expect([...new Set(fresh.map(({ pod }) => pod))].sort()).toEqual(['pod1', 'pod2'])
  await balance(['pod2'])
  // The pod that leaves the pool ends its connections itself, when it ends.
  expect(await alive(flows, 'leaving')).toBe(flows.length)
  expect(await alive(fresh, 'fewer pods')).toBe(fresh.length)
  await closeAll([...flows, ...fresh])
})

/** Where the address is first and where it moves to, while the slots of pod1 go to pod2 of node2. */
const MOVES = VERSIONS.flatMap((version) => [
  { version, from: 'node1', to: 'node2' } as const,
  { version, from: 'node2', to: 'node1' } as const,
])

it.each(MOVES)(
  'flows over IPv$version go on when their slots change node and the address moves from $from',
  async ({ version, from, to }) => {
    await balance(['pod1'])
    await leadTo(from)
    const [idle, ...flows] = await openFlows(version)
    await balance(['pod2'])
    await leadTo(to)
    expect(await alive(flows, 'after both')).toBe(flows.length)
    expect(await alive(flows, 'x'.repeat(100_000))).toBe(flows.length)
    const fresh = await openFlows(version)
    expect(new Set(fresh.map(({ pod }) => pod))).toEqual(new Set(['pod2']))
    expect(await alive([...flows, ...fresh], 'beside others')).toBe(flows.length + fresh.length)
    // The first packet that the new owner sees of it is its last.
    const served = await lab.peer('pod1').served()
    await closeAll([idle!])
    await waitFor(async () => (await lab.peer('pod1').served()) === served - 1, { what: 'the pod to hear of its end' })
    await closeAll([...flows, ...fresh])
  },
)

it.each(VERSIONS)('so do flows over IPv%i of a pool whose clients are told apart by their network', async (version) => {
  const networks = { sourceAffinity: true, clientNetworks: { ipv4Prefix: 24, ipv6Prefix: 64 } } as const
  await balance(['pod1'], [], NAMES, networks)
  await leadTo('node1')
  const flows = await openFlows(version, 4)
  await balance(['pod2'], [], NAMES, networks)
  await leadTo('node2')
  expect(await alive(flows, 'after both')).toBe(flows.length)
  const fresh = await openFlows(version, 4)
  expect(await alive([...flows, ...fresh], 'beside others')).toBe(flows.length + fresh.length)
  await closeAll([...flows, ...fresh])
})

it.each(VERSIONS)(
  'flows over IPv%i go on at a node that the new owner alone knows to have lost them',
  async (version) => {
    await balance(['pod1'])
    await leadTo('node2')
    const flows = await openFlows(version)
    await balance(['pod2'], [], ['node1'])
    await leadTo('node1')
    expect(await alive(flows, 'one of two knows')).toBe(flows.length)
    await balance(['pod2'])
    expect(await alive(flows, 'both know')).toBe(flows.length)
    await closeAll(flows)
  },
)

it.each(VERSIONS)(
  'flows over IPv%i go on after their slots moved and a new process, and then moved again',
  async (version) => {
    await balance(['pod1'])
    await leadTo('node1')
    const flows = await openFlows(version)
    await balance(['pod2'])
    await restart('node2')
    await leadTo('node2')
    expect(await alive(flows, 'after a new process')).toBe(flows.length)
    await balance(['pod1'])
    expect(await alive(flows, 'back')).toBe(flows.length)
    await balance(['pod2'])
    expect(await alive(flows, 'and away')).toBe(flows.length)
    await closeAll(flows)
  },
)

it.each(VERSIONS)('a connection over IPv%i that no node tracks is refused, not led in circles', async (version) => {
  await leadTo('node1')
  for (const pods of [['pod1'], ['pod2'], ['pod1'], ['pod2']] as const) await balance(pods)
  const flows = await openFlows(version, 4)
  // Each node is the other's former node now.
  for (const name of NAMES) await run('ip', ['netns', 'exec', nodes[name].domains.namespace(1), 'conntrack', '-F'])
  const answers = await Promise.all(flows.map(({ connection }) => client.say(connection, 'who knows me')))
  expect(answers).toEqual(flows.map(() => 'CLOSED'))
  const ends = await Promise.all(flows.map(({ connection }) => client.ending(connection)))
  expect(ends).toEqual(flows.map(() => 'ECONNRESET'))
})

it.each(VERSIONS)('a node whose last pod left leads on what others still send it, over IPv%i', async (version) => {
  await balance(['pod1', 'pod2'])
  await leadTo('node1')
  const stays = (await openFlows(version)).filter(({ pod }) => pod === 'pod2')
  await balance(['pod1'], [], ['node2'])
  const flows = await openFlows(version)
  expect(new Set(flows.map(({ pod }) => pod))).toEqual(new Set(['pod1']))
  expect(await alive(flows, 'led on')).toBe(flows.length)
  const datagrams = await Promise.all(Array.from({ length: 30 }, () => client.datagram(VIP[version], 53)))
  expect(new Set(datagrams)).toEqual(new Set([`pod1 ${CLIENT[version]}`]))
  expect(await alive(stays, 'leaving')).toBe(stays.length)
  await balance(['pod1', 'pod2'], [], ['node2'])
  expect(await alive(flows, 'back')).toBe(flows.length)
  await balance(['pod1', 'pod2'])
  expect(await alive([...flows, ...stays], 'agreed')).toBe(flows.length + stays.length)
  await leadTo('node2')
  expect(await alive([...flows, ...stays], 'moved')).toBe(flows.length + stays.length)
  await closeAll([...flows, ...stays])
})

it.each(NAMES)(
  'no connection fails while the last pod of %s, which has the address, leaves and comes',
  async (owner) => {
    await balance(['pod1', 'pod2'])
    await leadTo(owner)
    const [own, other] = owner === 'node1' ? (['pod1', 'pod2'] as const) : (['pod2', 'pod1'] as const)
    const firsts = [NAMES, NAMES.toReversed()]
    let isOver = false
    const asking = (async () => {
      const answers: string[] = []
      while (!isOver) answers.push(await client.connect(VIP[4], 80))
      return answers
    })()
    for (let round = 0; round < 20; round++) {
      for (const name of firsts[round % 2]!) await balance([other], [], [name])
      for (const name of firsts[round % 2]!) await balance([own, other], [], [name])
    }
    isOver = true
    expect([...new Set(await asking)].sort()).toEqual(both(CLIENT[4]))
  },
)

it('a UDP client stays with its pod while that is there, and gets another one when it goes', async () => {
  await balance(['pod1'])
  await leadTo('node2')
  const ask = (sourcePort: number) => client.datagram(VIP[4], 53, { sourcePort })
  const ports = Array.from({ length: 8 }, (_, at) => 40_000 + at)
  for (const port of ports) expect(await ask(port)).toBe('pod1 10.9.0.9')
  await balance(['pod1', 'pod2'])
  for (const port of ports) expect(await ask(port)).toBe('pod1 10.9.0.9')
  await balance(['pod2'])
  for (const port of ports)
    await waitFor(async () => (await ask(port)) === 'pod2 10.9.0.9', { what: 'the other pod to answer' })
})

it('beside a kube-proxy in mode ipvs with strictARP, which binds the addresses on every node, pods see the client', async () => {
  const addresses = Object.values(VIP)
  await using _first = await bindAsIpvs(lab, 'node1', addresses)
  await using _second = await bindAsIpvs(lab, 'node2', addresses)
  await balance(['pod1', 'pod2'])
  for (const version of VERSIONS) {
    await leadTo('node1')
    const flows = await openFlows(version)
    await leadTo('node2')
    // A node that asks for the client's hardware address must not do so in the name of the VIP, which would draw its packets.
    for (const name of NAMES) await lab.run(name, `ip neighbour flush to ${CLIENT[version]}`)
    expect(await alive(flows, 'after')).toBe(flows.length)
    const seen = await Promise.all(Array.from({ length: 30 }, () => client.connect(VIP[version], 80)))
    expect([...new Set(seen)].sort()).toEqual(both(CLIENT[version]))
    await closeAll(flows)
  }
})

it('answers only other nodes in the tunnel', async () => {
  const rules = await lab.run('node1', `nft list table inet spout-${nodes.node1.config.instance}-n1`)
  expect(rules).toContain('ip saddr != 10.9.0.2 drop')
})

it('probes pods, and those of its own see no client but the node', async () => {
  const netns = nodes.node1.domains.netns(1)
  for (const pod of ['pod1', 'pod2'] as const)
    for (const address of Object.values(podAddress(pod))) {
      const outcome = await nodes.node1.helper.connect({ netns, address, port: 8080, timeoutMs: 3_000 })
      expect(outcome).toMatchObject({ connected: true })
    }
})

it('a new process changes nothing; a lost tunnel is found and made again', async () => {
  await balance(['pod1', 'pod2'])
  await restart('node1')
  const { domains, driver } = nodes.node1
  expect(await domains.observe()).toEqual([])
  await run('ip', ['-n', domains.namespace(1), 'link', 'delete', 'dev', 'hosts'])
  expect(await domains.observe()).toEqual(['domain/1'])
  const put = [domainOf('node1')]
  expect(await domains.apply({ put, remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  await driver.adopt([])
  await balance(['pod2'])
  await leadTo('node1')
  expect(await client.connect(VIP[4], 80)).toBe('pod2 10.9.0.9')
})

/** Applies domains with these hosts, then the entry, as an agent does when a domain changes. */
async function changeHosts(change: (hosts: DomainHosts, name: NodeName) => DomainHosts): Promise<void> {
  for (const name of NAMES) {
    const domain = domainOf(name)
    const put = [{ ...domain, hosts: change(domain.hosts!, name) }]
    expect(await nodes[name].domains.apply({ put, remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
    const one = { ...applied.get(name)!, domain: put[0]! }
    expect(await nodes[name].driver.apply({ put: [one], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  }
}

it('a tunnel of another network is used at once', async () => {
  await balance(['pod2'])
  await leadTo('node1')
  await changeHosts((hosts) => ({ ...hosts, vni: 2 }))
  expect(await client.connect(VIP[4], 80)).toBe('pod2 10.9.0.9')
  await changeHosts((hosts) => hosts)
  expect(await client.connect(VIP[4], 80)).toBe('pod2 10.9.0.9')
})

it('connections go on when a node gets another address', async () => {
  await balance(['pod2'])
  await leadTo('node1')
  const flows = await openFlows(4)
  await lab.run('node1', `ip address add 10.9.0.31/24 dev ${nodes.node1.config.fabricInterface}`)
  const tunnel = () => run('ip', ['-n', nodes.node1.domains.namespace(1), '-j', 'link', 'show', 'dev', 'hosts'])
  const before = await tunnel()
  await changeHosts((hosts, name) =>
    name === 'node1'
      ? { ...hosts, address: '10.9.0.31' }
      : { ...hosts, peers: hosts.peers.map((peer) => ({ ...peer, address: '10.9.0.31' })) },
  )
  expect(await tunnel()).toBe(before)
  expect(await alive(flows, 'after')).toBe(flows.length)
  expect(await client.connect(VIP[4], 80)).toBe('pod2 10.9.0.9')
  await changeHosts((hosts) => hosts)
  expect(await alive(flows, 'back')).toBe(flows.length)
  await closeAll(flows)
})

it('is removed completely', async () => {
  const { domains, config } = nodes.node1
  expect(await domains.apply({ put: [], remove: ['domain/1'] }, signal)).toEqual([])
  expect(await lab.run('node1', 'ip rule show')).not.toContain('fwmark')
  expect(await lab.run('node1', 'ip -6 rule show')).not.toContain('fwmark')
  expect(await lab.run('node1', 'nft list tables')).not.toContain(`spout-${config.instance}-n1`)
  expect(await lab.run('node1', 'ip -o link show')).not.toContain(`${config.instance}h1`)
})
