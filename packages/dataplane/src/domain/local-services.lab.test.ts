import { LOCAL_DOMAIN, LOCAL_SEGMENT } from '@spout/model/local-entries'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Arrangement } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { LabNode } from '../testing/lab-node.ts'
import type { Peer } from '../testing/peer-client.ts'

// What the node's own settings balance: its own sockets and those of another node are members, and both nodes are
// clients. The port is the same at the address and at the members, which listen on every address of their machine.

const signal = new AbortController().signal
const VIP = '10.9.0.100'
const NODES = { node1: '10.9.0.1', node2: '10.9.0.2' } as const
const PORT = 8080
const LINK = { cidr: '100.127.16.0/30', nodeAddress: '100.127.16.2', gatewayIp: '100.127.16.1', sharedAddress: null }

const entry = domainEntry(LOCAL_DOMAIN, {
  segment: { physicalNetwork: LOCAL_SEGMENT, vlan: null },
  returnPath: 'snat',
  gateway: null,
  subnets: [LINK],
  routes: Object.values(NODES).map((own) => ({ to: `${own}/32`, via: LINK.gatewayIp })),
})

let lab: Arrangement
let node: LabNode
let client: Peer
let self: Peer
let other: Peer

const OTHER_VIP = '10.9.0.101'
const start = (...addresses: readonly string[]) =>
  LabNode.start(lab, 'node1', () => null, 0, { local: { addresses, memberPorts: [PORT] } })

beforeAll(async () => {
  lab = await Arrangement.create()
  client = lab.peer('client')
  self = lab.adopt('self', lab.namespace('node1'))
  other = lab.adopt('other', lab.namespace('node2'))
  for (const peer of [self, other]) await peer.serve(PORT)
  node = await start(VIP, OTHER_VIP)
  await node.domains.adopt([])
  expect(await node.domains.apply({ put: [entry], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
})

afterAll(async () => {
  await node?.end([LOCAL_DOMAIN])
  await lab?.[Symbol.asyncDispose]()
})

async function balance(...names: readonly (keyof typeof NODES)[]): Promise<void> {
  const members = names.map((name) => member(name, NODES[name]))
  const one = wanted('local-a', entry, {
    vips: [vip(VIP)],
    services: [service('l1', PORT, 5)],
    pools: [pool(5, members)],
  })
  expect(await node.driver.apply({ put: [one], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
}

it('serves the node itself before anybody announces the address', async () => {
  await balance('node2')
  expect(await self.connect(VIP, PORT)).toBe(`other ${NODES.node1}`)
  await balance('node1')
  expect(await self.connect(VIP, PORT)).toMatch(/^self /)
})

it('serves clients, the other node and itself while it has the address', async () => {
  const announcement = { address: VIP, scope: 'fabric', domain: LOCAL_DOMAIN, by: { via: 'l2' } } as const
  expect(await node.announcer.apply([announcement], signal)).toMatchObject([{ error: null }])
  await balance('node2')
  // Not the node's own socket, which has the same port on every address of the machine. A member is a client, too.
  for (const peer of [client, other, self]) expect(await peer.connect(VIP, PORT)).toMatch(/^other /)
  await balance('node1')
  for (const peer of [client, other, self]) expect(await peer.connect(VIP, PORT)).toMatch(/^self /)
})

it('serves all of them beside a kube-proxy that drops what the node calls invalid', async () => {
  const chain = 'chain forward { type filter hook forward priority filter; ct state invalid drop; }'
  await lab.run('node1', `nft table inet kube-proxy { ${chain}; }`)
  try {
    for (const name of ['node2', 'node1'] as const) {
      await balance(name)
      const answers = name === 'node2' ? /^other / : /^self /
      for (const peer of [client, other, self]) expect(await peer.connect(VIP, PORT)).toMatch(answers)
    }
  } finally {
    await lab.run('node1', 'nft delete table inet kube-proxy')
  }
})

it('probes the members, its own socket too', async () => {
  for (const address of Object.values(NODES)) {
    const target = { netns: node.domains.netns(LOCAL_DOMAIN), address, port: PORT, timeoutMs: 3_000 }
    expect(await node.helper.connect(target)).toMatchObject({ connected: true })
  }
})

it('lets the domain reach nothing else of the node', async () => {
  await self.serve(PORT + 1)
  const netns = node.domains.netns(LOCAL_DOMAIN)
  const refused = await node.helper.connect({ netns, address: NODES.node1, port: PORT + 1, timeoutMs: 1_000 })
  expect(refused).toMatchObject({ connected: false })
})

it('a new process changes nothing, and one without an address removes its rule', async () => {
  await node.die()
  node = await start(VIP, OTHER_VIP)
  await node.domains.adopt([entry])
  expect(node.domains.counters.changes).toBe(0)
  await node.die()
  node = await start(VIP)
  await node.domains.adopt([entry])
  const rules = await lab.run('node1', 'ip rule show')
  expect(rules).toContain(VIP)
  expect(rules).not.toContain(OTHER_VIP)
})
