import type { NodeMember } from '@spout/model/node-state'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WantedEntry } from '../../contracts/driver.ts'
import { run } from '../../domain/run.ts'
import { Arrangement, MEMBER_PORTS } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode } from '../../testing/lab-node.ts'
import { FAR, holdVips, joinFarMembers } from '../../testing/nftables/direct-return.ts'
import { type Peer, SILENCE_MS } from '../../testing/peer-client.ts'

const VIP = { 4: '10.9.0.100', 6: 'fd09::100' } as const
const TENANT_VIP = '10.0.0.100'
const NODES = ['node1', 'node2'] as const
type NodeName = (typeof NODES)[number]
const PORT = MEMBER_PORTS[0]!
/** A UDP server answers from the VIP only if it is bound to it, or reads the destination of each datagram. */
const UDP_PORT = 8090

const signal = new AbortController().signal
/** Counters that take long to read are read less often. */
const PATIENT = { timeout: 10_000 }
/** Each node has addresses of its own in the segment. */
const domainOf = (node: NodeName) => {
  const last = node === 'node1' ? 250 : 251
  return domainEntry(1, {
    returnPath: 'dsr',
    gateway: null,
    subnets: [
      { cidr: '10.0.0.0/24', nodeAddress: `10.0.0.${last}`, gatewayIp: null, sharedAddress: null },
      { cidr: 'fd01::/64', nodeAddress: `fd01::${last}`, gatewayIp: null, sharedAddress: null },
    ],
  })
}
const m1 = member('m1', '10.0.0.11')
const m2 = member('m2', '10.0.0.12')
const both = [m1, m2, member('m3', 'fd01::11'), member('m4', 'fd01::12')]

const udp = (members: readonly NodeMember[]) => members.map((each) => ({ ...each, port: UDP_PORT }))

let lab: Arrangement
let nodes: Record<NodeName, LabNode>
let client: Peer

beforeAll(async () => {
  lab = await Arrangement.create()
  await holdVips(lab, ['red1', 'red2'], [`${VIP[4]}/32`, `${VIP[6]}/128`, `${TENANT_VIP}/32`])
  for (const name of ['red1', 'red2'])
    for (const address of Object.values(VIP)) await lab.peer(name).serve(UDP_PORT, address)
  const start = async (node: NodeName) => {
    const started = await LabNode.start(lab, node)
    await started.domains.adopt([])
    expect(await started.domains.apply({ put: [domainOf(node)], remove: [] }, signal)).toMatchObject([
      { state: 'programmed' },
    ])
    await started.driver.adopt([])
    return started
  }
  nodes = { node1: await start('node1'), node2: await start('node2') }
  client = lab.peer('client')
})

afterAll(async () => {
  for (const node of Object.values(nodes ?? {})) await node.end([1])
  await lab?.[Symbol.asyncDispose]()
})

interface Fields {
  readonly services?: WantedEntry['entry']['services']
  readonly pools?: WantedEntry['entry']['pools']
  readonly vips?: WantedEntry['entry']['vips']
  readonly down?: readonly string[]
}

const entryAt = (node: NodeName, { services, pools, vips, down = [] }: Fields = {}): WantedEntry =>
  wanted(
    'a',
    domainOf(node),
    {
      vips: vips ?? [vip(VIP[4]), vip(VIP[6])],
      services: services ?? [service('l1', PORT, 5), service('l2', UDP_PORT, 6, { protocol: 'udp' })],
      pools: pools ?? [pool(5, both), pool(6, udp(both))],
    },
    down,
  )

async function put(fields: Fields = {}): Promise<void> {
  for (const name of NODES) {
    const applied = await nodes[name].driver.apply({ put: [entryAt(name, fields)], remove: [] }, signal)
    expect(applied).toEqual([{ key: 'lb/a', state: 'programmed', reason: null, message: null }])
  }
}

/** Packets for the VIPs go to this node from now on, the errors of routers as well. */
async function leadTo(node: NodeName): Promise<void> {
  const last = node === 'node1' ? 1 : 2
  for (const place of ['client', 'router']) {
    await lab.run(place, `ip route replace ${VIP[4]}/32 via 10.9.0.${last}`)
    await lab.run(place, `ip -6 route replace ${VIP[6]}/128 via fd09::${last}`)
  }
}

const cables = async (node: NodeName, state: 'up' | 'down'): Promise<void> => {
  for (const link of ['fab0', 'red0']) await lab.run('switch', `ip link set dev ${node}-${link} ${state}`)
}

const inDomain = (node: NodeName, command: string): Promise<string> =>
  lab.run(node, `nsenter --net=/run/netns/${nodes[node].config.instance}-d1 ${command}`)

/** Flows of the client by the member that has them. */
async function openFlows(count: number, address: string = VIP[4]): Promise<readonly number[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => client.open(address, PORT)))
  const members = new Set(opened.map(({ line }) => line.split(' ')[0]))
  expect([...members].sort()).toEqual(['red1', 'red2'])
  return opened.map(({ connection }) => connection)
}

/** How many of the flows carry a text and its echo. */
async function alive(flows: readonly number[], text: string): Promise<number> {
  const said = await Promise.all(flows.map((flow) => client.say(flow, text)))
  return said.filter((answer) => answer === text).length
}

const closeAll = (flows: readonly number[]) => Promise.all(flows.map((flow) => client.close(flow)))

describe('return path dsr', () => {
  it('lets several members answer over TCP and UDP, IPv4 and IPv6, and members see the client', async () => {
    await put()
    await leadTo('node1')
    for (const [address, seen] of [
      [VIP[4], '10.9.0.9'],
      [VIP[6], 'fd09::9'],
    ] as const) {
      const tcp = await Promise.all(Array.from({ length: 40 }, () => client.connect(address, PORT)))
      expect([...new Set(tcp)].sort()).toEqual([`red1 ${seen}`, `red2 ${seen}`])
      const udp = await Promise.all(Array.from({ length: 40 }, () => client.datagram(address, UDP_PORT)))
      expect([...new Set(udp)].sort()).toEqual([`red1 ${seen}`, `red2 ${seen}`])
    }
  })

  it('shows the member the VIP, and its answers pass no node', async () => {
    await put()
    await leadTo('node1')
    const places = [lab.namespace('router'), ...NODES.map((node) => nodes[node].domains.namespace(1))]
    const counter = `table inet seen { counter answers { }
      chain incoming { type filter hook prerouting priority -310
        ip saddr ${VIP[4]} counter name answers
      }
    }`
    for (const place of places) await run('ip', ['netns', 'exec', place, 'nft', '-f', '-'], counter)
    const { connection, line } = await client.open(VIP[4], PORT)
    expect(await client.say(connection, 'hello')).toBe('hello')
    const sockets = await lab.run(line.split(' ')[0]!, 'ss -Htn state established')
    expect(sockets).toMatch(new RegExp(`${VIP[4]}\\S*:${PORT}\\s+\\S*10\\.9\\.0\\.9\\S*:\\d+`))
    await client.close(connection)
    const passed = places.map(async (place) => {
      const listed = await run('ip', ['netns', 'exec', place, 'nft', 'list', 'counter', 'inet', 'seen', 'answers'])
      await run('ip', ['netns', 'exec', place, 'nft', 'delete', 'table', 'inet', 'seen'])
      return Number(/packets (\d+)/.exec(listed)?.[1])
    })
    const [throughRouter, ...throughNodes] = await Promise.all(passed)
    expect(throughRouter).toBeGreaterThan(2)
    expect(throughNodes).toEqual([0, 0])
  })

  it('keeps no state of flows on a node', async () => {
    await put()
    await leadTo('node1')
    const flows = await openFlows(24)
    for (const node of NODES) expect(await inDomain(node, 'conntrack -L')).not.toContain(VIP[4])
    await closeAll(flows)
  })

  it('keeps a client on its member where the pool says so', async () => {
    await put({ pools: [pool(5, both, { sourceAffinity: true }), pool(6, udp(both))] })
    await leadTo('node1')
    const answered = await Promise.all(Array.from({ length: 20 }, () => client.connect(VIP[4], PORT)))
    expect(new Set(answered).size).toBe(1)
  })

  it.each([64, 256, 1024, 4096] as const)('reaches every member of a table of %d slots', async (size) => {
    const table = Buffer.alloc(2 * size)
    for (let slot = 0; slot < size; slot++) table.writeUInt16LE(slot % 2, 2 * slot)
    const slots = { size, table: table.toString('base64') }
    await put({ pools: [pool(5, [m1, m2], { slots }), pool(6, udp([m1, m2]), { slots, sourceAffinity: true })] })
    await leadTo('node1')
    const answered = await Promise.all(Array.from({ length: 40 }, () => client.connect(VIP[4], PORT)))
    expect([...new Set(answered)].sort()).toEqual(['red1 10.9.0.9', 'red2 10.9.0.9'])
    expect(await client.datagram(VIP[4], UDP_PORT)).toMatch(/^red[12] /)
  })

  it('admits the listed sources alone', async () => {
    const allowedCidrs = ['10.9.0.10/32', 'fd09::/64']
    await put({ services: [service('l1', PORT, 5, { allowedCidrs })], pools: [pool(5, both)] })
    await leadTo('node1')
    expect(await client.connect(VIP[4], PORT, { source: '10.9.0.10' })).toMatch(/^red[12] 10\.9\.0\.10$/)
    expect(await client.connect(VIP[4], PORT, { source: '10.9.0.9', withinMs: SILENCE_MS })).toBe('ETIMEDOUT')
    expect(await client.connect(VIP[6], PORT)).toMatch(/^red[12] fd09::9$/)
  })

  it('refuses at once what has no member, and what nothing listens on', async () => {
    await put({ down: both.map(({ id }) => id) })
    await leadTo('node1')
    for (const address of Object.values(VIP))
      for (const port of [PORT, 99]) {
        expect(await client.connect(address, port)).toBe('ECONNREFUSED')
        expect(await client.datagram(address, port)).toBe('ECONNREFUSED')
      }
  })

  it('gives a member that is down nothing', async () => {
    await put({ down: ['m2', 'm4'] })
    await leadTo('node1')
    for (const address of Object.values(VIP)) {
      const answered = await Promise.all(Array.from({ length: 20 }, () => client.connect(address, PORT)))
      expect([...new Set(answered.map((line) => line.split(' ')[0]))]).toEqual(['red1'])
    }
  })

  it("serves a VIP of the tenant network to hosts of the members' own subnet", async () => {
    await put({ vips: [vip(VIP[4]), vip(TENANT_VIP, 'tenant')] })
    const by = { via: 'l2' } as const
    const announced = [{ address: TENANT_VIP, scope: 'tenant', domain: 1, by } as const]
    expect(await nodes.node1.announcer.apply(announced, signal)).toMatchObject([{ error: null }])
    const host = lab.peer('red9')
    const answered = await Promise.all(Array.from({ length: 40 }, () => host.connect(TENANT_VIP, PORT)))
    expect([...new Set(answered)].sort()).toEqual(['red1 10.0.0.99', 'red2 10.0.0.99'])
    expect(await host.connect(TENANT_VIP, 99)).toBe('ECONNREFUSED')
    await nodes.node1.announcer.apply([], signal)
  })

  it('counts what comes, which is all that a node sees', async () => {
    await put({ services: [service('l1', PORT, 5), service('l3', UDP_PORT, 6, { protocol: 'udp' })] })
    await leadTo('node1')
    const of = async (listener: string) => {
      const stats = await nodes.node1.driver.stats()
      return stats.find(({ listenerId }) => listenerId === listener)!
    }
    const before = await of('l1')
    const flows = await openFlows(24)
    await closeAll(flows)
    await client.datagram(VIP[4], UDP_PORT)
    await expect
      .poll(() => of('l1'), PATIENT)
      .toMatchObject({ totalConnections: before.totalConnections + 24, bytesOut: 0 })
    expect((await of('l1')).bytesIn - before.bytesIn).toBeGreaterThan(24 * 3 * 40)
    // No UDP packet tells that it begins a flow. Its bytes: 20 of IP, 8 of UDP, 5 of `hello`.
    await expect.poll(() => of('l3'), PATIENT).toMatchObject({ totalConnections: 0, bytesIn: 33, bytesOut: 0 })
  })

  it('tells the member that has the flow when its answers are too long for the way', async () => {
    await put()
    await leadTo('node1')
    await lab.run('router', 'ip link set dev fabric mtu 1300')
    try {
      const flows = await openFlows(24)
      const long = 'x'.repeat(8000)
      const said = await Promise.all(flows.map((flow) => client.say(flow, long)))
      expect(said.filter((answer) => !/^x{1000}/.test(answer))).toEqual([])
      await closeAll(flows)
    } finally {
      await lab.run('router', 'ip link set dev fabric mtu 1500')
    }
  })
})

describe('two nodes of return path dsr', () => {
  it('pick the same member for each flow, so that a flow may change nodes with every packet', async () => {
    await put()
    await leadTo('node1')
    const flows = [...(await openFlows(24)), ...(await openFlows(24, VIP[6]))]
    for (const turn of [1, 2, 3, 4]) {
      await leadTo(turn % 2 === 0 ? 'node1' : 'node2')
      expect(await alive(flows, `turn ${turn}`)).toBe(flows.length)
    }
    await closeAll(flows)
  })

  it.each(['client', 'member'] as const)(
    'carry on the flows of the one that dies, when the %s speaks first',
    async (first) => {
      await put()
      await leadTo('node1')
      const flows = [...(await openFlows(24)), ...(await openFlows(24, VIP[6]))]
      await cables('node1', 'down')
      try {
        if (first === 'member') {
          // No route leads to a living node yet, but responses need no node.
          for (const name of ['red1', 'red2']) expect(Number(await lab.peer(name).push('pushed'))).toBeGreaterThan(0)
          const heard = await Promise.all(flows.map((flow) => client.hear(flow)))
          expect(heard.filter((line) => line !== 'pushed')).toEqual([])
        }
        await leadTo('node2')
        expect(await alive(flows, 'still there?')).toBe(flows.length)
      } finally {
        await cables('node1', 'up')
      }
      await closeAll(flows)
    },
  )
})

describe('the forwarding table', () => {
  it('is left alone by an agent that finds what it wants', async () => {
    await put()
    await leadTo('node1')
    const flows = await openFlows(16)
    const next = await LabNode.start(lab, 'node1')
    await next.domains.adopt([domainOf('node1')])
    await next.driver.adopt([entryAt('node1')])
    await next.driver.apply({ put: [entryAt('node1')], remove: [] }, signal)
    expect(next.driver.counters).toEqual({ transactions: 0, reloads: 0 })
    expect(await alive(flows, 'hello')).toBe(16)
    await next.die()
    await closeAll(flows)
  })

  it('works again when the segment was lost and created again', async () => {
    await put()
    await leadTo('node1')
    await inDomain('node1', 'ip link delete dev segment')
    expect(await nodes.node1.domains.observe()).toEqual(['domain/1'])
    await nodes.node1.domains.apply({ put: [domainOf('node1')], remove: [] }, signal)
    // Rules name an interface by its index: the new one is another.
    expect(await nodes.node1.driver.observe()).toEqual(['lb/a'])
    await put()
    expect(await nodes.node1.driver.observe()).toEqual([])
    expect(await client.connect(VIP[4], PORT)).toMatch(/^red[12] 10\.9\.0\.9$/)
  })

  it('goes when its network is translated from now on, and comes back', async () => {
    await put()
    const gateway = domainEntry(1, { subnets: domainOf('node1').subnets, returnPath: 'snat', gateway: null })
    const { entry } = entryAt('node1')
    const translated = wanted('a', gateway, entry)
    await nodes.node1.domains.apply({ put: [gateway], remove: [] }, signal)
    expect(await nodes.node1.driver.apply({ put: [translated], remove: [] }, signal)).toMatchObject([
      { state: 'programmed' },
    ])
    await leadTo('node1')
    expect(await client.connect(VIP[4], PORT)).toMatch(/^red[12] 10\.0\.0\.250$/)
    await nodes.node1.domains.apply({ put: [domainOf('node1')], remove: [] }, signal)
    await put()
    expect(await client.connect(VIP[4], PORT)).toMatch(/^red[12] 10\.9\.0\.9$/)
  })
})

describe('members behind routers', () => {
  const VNI = 77
  const far = [
    member('f1', '10.8.1.11'),
    member('f2', '10.8.2.12'),
    member('f3', 'fd08:1::11'),
    member('f4', 'fd08:2::12'),
  ]
  const domainWithTunnel = (node: NodeName) => ({
    ...domainOf(node),
    tunnel: {
      vni: VNI,
      subnets: [
        { cidr: '10.8.0.0/16', via: '10.0.0.254' },
        { cidr: 'fd08::/16', via: 'fd01::254' },
      ],
    },
  })
  const entryOf = (node: NodeName, members: readonly NodeMember[], down: readonly string[] = []) => {
    const services = [service('l1', PORT, 5)]
    const vips = [vip(VIP[4]), vip(VIP[6])]
    return wanted('a', domainWithTunnel(node), { vips, services, pools: [pool(5, members)] }, down)
  }
  const putFar = async (members: readonly NodeMember[] = far, down: readonly string[] = []): Promise<void> => {
    for (const name of NODES) {
      const applied = await nodes[name].driver.apply({ put: [entryOf(name, members, down)], remove: [] }, signal)
      expect(applied).toEqual([{ key: 'lb/a', state: 'programmed', reason: null, message: null }])
    }
  }
  const neighbours = async (): Promise<readonly string[]> => {
    const lists = ['tunnel4', 'tunnel6'].map((dev) => inDomain('node1', `ip neigh show dev ${dev} nud permanent`))
    return (await Promise.all(lists))
      .flatMap((text) => text.split('\n').filter(Boolean))
      .map((line) => line.split(' ')[0]!)
  }

  beforeAll(async () => {
    await joinFarMembers(lab, [`${VIP[4]}/32`, `${VIP[6]}/128`], VNI)
    for (const place of Object.keys(FAR)) await lab.adopt(place, lab.namespace(place)).serve(PORT)
    await put()
    for (const name of NODES)
      expect(await nodes[name].domains.apply({ put: [domainWithTunnel(name)], remove: [] }, signal)).toMatchObject([
        { state: 'programmed' },
      ])
  })

  it('answer with those on the segment, and see the client', async () => {
    await putFar([...both, ...far])
    await leadTo('node1')
    for (const [address, seen] of [
      [VIP[4], '10.9.0.9'],
      [VIP[6], 'fd09::9'],
    ] as const) {
      const answered = await Promise.all(Array.from({ length: 60 }, () => client.connect(address, PORT)))
      expect([...new Set(answered)].sort()).toEqual(['far1', 'far2', 'red1', 'red2'].map((name) => `${name} ${seen}`))
    }
  })

  it('take uploads, whose segments fit into the tunnel', async () => {
    await putFar()
    await leadTo('node1')
    for (const address of Object.values(VIP)) {
      const { connection } = await client.open(address, PORT)
      expect(await client.say(connection, 'y'.repeat(20_000))).toMatch(/^y{1000}/)
      await client.close(connection)
    }
  })

  it('keep their flows when the node dies', async () => {
    await putFar()
    await leadTo('node1')
    const open = (address: string) => Promise.all(Array.from({ length: 24 }, () => client.open(address, PORT)))
    const opened = [...(await open(VIP[4])), ...(await open(VIP[6]))]
    expect(new Set(opened.map(({ line }) => line.split(' ')[0])).size).toBe(2)
    await cables('node1', 'down')
    await leadTo('node2')
    const flows = opened.map(({ connection }) => connection)
    expect(await alive(flows, 'still there?')).toBe(48)
    await cables('node1', 'up')
    await closeAll(flows)
  })

  it('are probed at their own address', async () => {
    const netns = nodes.node1.domains.netns(1)
    for (const address of ['10.8.1.11', 'fd08:2::12'])
      expect(await nodes.node1.helper.connect({ netns, address, port: PORT, timeoutMs: 2000 })).toMatchObject({
        connected: true,
      })
  })

  it('have a neighbour each while they are there, which an agent adopts and mends', async () => {
    await putFar()
    expect((await neighbours()).toSorted()).toEqual(['10.8.1.11', '10.8.2.12', 'fd08:1::11', 'fd08:2::12'])
    const next = await LabNode.start(lab, 'node1')
    await next.domains.adopt([domainWithTunnel('node1')])
    await next.driver.adopt([entryOf('node1', far)])
    await next.driver.apply({ put: [entryOf('node1', far)], remove: [] }, signal)
    expect(next.domains.counters).toEqual({ changes: 0 })
    expect(next.driver.counters).toEqual({ transactions: 0, reloads: 0 })
    await inDomain('node1', 'ip neigh del 10.8.1.11 dev tunnel4')
    expect(await next.driver.observe()).toEqual(['lb/a'])
    await next.driver.apply({ put: [entryOf('node1', far)], remove: [] }, signal)
    expect(await next.driver.observe()).toEqual([])
    await next.die()
    await nodes.node1.driver.adopt([entryOf('node1', far)])
    await putFar(far.slice(0, 1))
    expect(await neighbours()).toEqual(['10.8.1.11'])
  })

  it('are refused if two cannot be distinguished, and stop no other entry', async () => {
    await putFar(far.slice(0, 1))
    const like = (id: string, address: string, vipAddress: string): WantedEntry =>
      wanted(id, domainWithTunnel('node1'), {
        vips: [vip(vipAddress)],
        services: [service(`l-${id}`, PORT, id.charCodeAt(0))],
        pools: [pool(id.charCodeAt(0), [member(`m-${id}`, address)])],
      })
    const put = [
      like('b', 'fd08:1::11', 'fd09::101'),
      like('c', 'fd08:2::11', 'fd09::102'),
      like('d', '10.8.2.12', '10.9.0.103'),
    ]
    const applied = await nodes.node1.driver.apply({ put, remove: [] }, signal)
    expect(applied.map(({ key, state }) => `${key} ${state}`)).toEqual([
      'lb/b programmed',
      'lb/c failed',
      'lb/d programmed',
    ])
    expect(applied[1]?.message).toContain('fd08:2::11 and fd08:1::11')
    await nodes.node1.driver.apply({ put: [], remove: ['lb/b', 'lb/c', 'lb/d'] }, signal)
    expect(await neighbours()).toEqual(['10.8.1.11'])
  })

  it('do not lead into the domain', async () => {
    await putFar()
    const domain = nodes.node1.domains.namespace(1)
    const counter = `table netdev heard { counter frames { }
      chain incoming { type filter hook ingress device "tunnel4" priority 0
        counter name frames
      }
    }`
    await run('ip', ['netns', 'exec', domain, 'nft', '-f', '-'], counter)
    // VXLAN header with the tunnel's id, then a broadcast frame.
    const frame = `0800000000004d00${'ff'.repeat(6)}${'02'.repeat(6)}0806${'00'.repeat(46)}`
    const program = `import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.sendto(bytes.fromhex('${frame}'), ('10.0.0.250', 4789))`
    await run('ip', ['netns', 'exec', lab.namespace('far1'), 'python3', '-'], program)
    // It takes the same path, so it arrives after the frame.
    const netns = nodes.node1.domains.netns(1)
    expect(
      await nodes.node1.helper.connect({ netns, address: '10.8.1.11', port: PORT, timeoutMs: 2000 }),
    ).toMatchObject({
      connected: true,
    })
    expect(await inDomain('node1', 'nft list counter netdev heard frames')).toContain('packets 0')
    await inDomain('node1', 'nft delete table netdev heard')
  })

  it('go with their subnet', async () => {
    for (const name of NODES) {
      await nodes[name].domains.apply({ put: [domainOf(name)], remove: [] }, signal)
      // On one node the loss is observed first; on the other the entry is applied at once.
      if (name === 'node1') expect(await nodes[name].driver.observe()).toEqual(['lb/a'])
      expect(await nodes[name].driver.apply({ put: [entryAt(name)], remove: [] }, signal)).toMatchObject([
        { state: 'programmed' },
      ])
      expect(await nodes[name].driver.observe()).toEqual([])
    }
    await leadTo('node1')
    expect(await client.connect(VIP[4], PORT)).toMatch(/^red[12] 10\.9\.0\.9$/)
    expect(await inDomain('node1', 'ip -br link')).not.toContain('tunnel')
    expect(await inDomain('node1', 'ip route')).not.toContain('10.8.0.0')
    expect(await inDomain('node1', 'nft list tables netdev')).not.toContain('spout-tunnel')
  })
})
