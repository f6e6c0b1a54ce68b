import type { ClientNetworks } from '@spout/model'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode } from '../../testing/lab-node.ts'
import { holdVips } from '../../testing/nftables/direct-return.ts'
import type { Peer } from '../../testing/peer-client.ts'
import { askSctp, SctpServer } from '../../testing/sctp-peer.ts'

const signal = new AbortController().signal
const VIP = { 4: '10.9.0.100', 6: 'fd09::100' } as const
const SCTP_PORT = 3900
/** Ports at which members answer UDP from the address that the datagram was sent to. */
const UDP_PORTS = { gateway: 8081, dsr: 5300, snat: 8081, node: 8081 } as const
const SIZES = [64, 256, 1024, 4096] as const
type Size = (typeof SIZES)[number]

/** Four clients in each of eight networks of 16 addresses. */
const NETWORKS = Array.from({ length: 8 }, (_, at) => [1, 5, 9, 14].map((host) => `10.9.0.${16 * (at + 1) + host}`))
const CLIENTS = NETWORKS.flat()
const CLIENTS6 = Array.from({ length: 16 }, (_, at) => `fd09::c:${at + 1}`)

const gateway = domainEntry(1)
const dsr = domainEntry(1, { returnPath: 'dsr', gateway: null })
const members = ['10.0.0.11', '10.0.0.12', 'fd01::11', 'fd01::12'].map((address, at) => member(`m${at + 1}`, address))
const associated = members.map((one) => ({ ...one, port: SCTP_PORT }))

let lab: Arrangement
let node: LabNode
let client: Peer
const servers: SctpServer[] = []

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  client = lab.peer('client')
  await node.domains.adopt([])
  for (const name of ['red1', 'red2']) servers.push(await SctpServer.start(lab.namespace(name), name, SCTP_PORT))
  for (const address of CLIENTS) await lab.run('client', `ip address add ${address}/24 dev eth0`)
  for (const address of CLIENTS6) await lab.run('client', `ip address add ${address}/64 dev eth0 nodad`)
})

afterAll(async () => {
  for (const server of servers) server[Symbol.dispose]()
  await node?.end([1])
  await lab?.[Symbol.asyncDispose]()
})

interface Wish {
  readonly clientNetworks?: ClientNetworks
  readonly keepSeconds?: number
  readonly size?: Size
  /** Exchanges the two members in all slots. */
  readonly isTurned?: boolean
}

/** Slots that lead to the two members of a family in turn. */
function byTurns(size: Size, isTurned: boolean) {
  const table = Buffer.alloc(2 * size)
  for (let slot = 0; slot < size; slot++) table.writeUInt16LE((slot + Number(isTurned)) % 2, 2 * slot)
  return { size, table: table.toString('base64') }
}

async function put(domain: typeof gateway, { size = 64, isTurned = false, ...ofPool }: Wish): Promise<void> {
  expect(await node.domains.apply({ put: [domain], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  const udpPort = UDP_PORTS[domain.returnPath]
  const fields = { sourceAffinity: true, slots: byTurns(size, isTurned), ...ofPool }
  const [v4, v6] = [members.slice(0, 2), members.slice(2)]
  const entry = {
    vips: [vip(VIP[4]), vip(VIP[6])],
    services: [
      service('l1', 8080, 5),
      service('l2', udpPort, 6, { protocol: 'udp' }),
      service('l3', SCTP_PORT, 7, { protocol: 'sctp' }),
      service('l4', 8081, 8),
    ],
    pools: [
      pool(5, v4, fields),
      pool(
        6,
        v4.map((one) => ({ ...one, port: udpPort })),
        fields,
      ),
      pool(7, associated.slice(0, 2), fields),
      pool(
        8,
        v6.map((one) => ({ ...one, port: 8081 })),
        fields,
      ),
    ],
  }
  const applied = await node.driver.apply({ put: [wanted('a', domain, entry)], remove: [] }, signal)
  expect(applied).toEqual([{ key: 'lb/a', state: 'programmed', reason: null, message: null }])
  const announcements = Object.values(VIP).map((address) => ({
    ...{ address, scope: 'fabric' as const, domain: 1, by: { via: 'l2' as const } },
  }))
  expect((await node.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

type Ask = (source: string) => Promise<string>
const tcp: Ask = async (source) => (await client.connect(VIP[4], 8080, { source })).slice(0, 4)
const udpTo =
  (port: number): Ask =>
  async (source) =>
    (await client.datagram(VIP[4], port, { source })).slice(0, 4)
const tcp6: Ask = async (source) => (await client.connect(VIP[6], 8081, { source })).slice(0, 4)

const answersOf = async (ask: Ask, clients: readonly string[]): Promise<readonly string[]> => [
  ...new Set(await Promise.all(clients.map(ask))),
]
/** In how many of the networks all clients have one member, and the members of all of them. */
async function dealt(ask: Ask, networks: readonly (readonly string[])[]) {
  const answers = await Promise.all(networks.map((clients) => answersOf(ask, clients)))
  return {
    together: answers.filter(({ length }) => length === 1).length,
    members: [...new Set(answers.flat())].toSorted(),
  }
}
const BOTH = ['red1', 'red2']

const sharedMembers = (domain: typeof gateway): void => {
  it.each([
    ['TCP', tcp],
    ['UDP', udpTo(UDP_PORTS[domain.returnPath])],
  ])('have one member over %s, and those of other networks another', async (_, ask) => {
    await put(domain, { clientNetworks: { ipv4Prefix: 28 } })
    expect(await dealt(ask, NETWORKS)).toEqual({ together: 8, members: BOTH })
    await put(domain, {})
    expect((await dealt(ask, NETWORKS)).together).toBeLessThan(8)
  })

  it.each(SIZES)('in a pool of %d slots', async (size) => {
    await put(domain, { clientNetworks: { ipv4Prefix: 28 }, size })
    expect(await dealt(tcp, NETWORKS)).toEqual({ together: 8, members: BOTH })
  })

  it('are those with the prefix that the pool says', async () => {
    await put(domain, { clientNetworks: { ipv4Prefix: 24 } })
    expect(await dealt(tcp, [CLIENTS])).toMatchObject({ together: 1 })
    await put(domain, { clientNetworks: { ipv4Prefix: 31 } })
    expect((await dealt(tcp, NETWORKS)).together).toBeLessThan(8)
  })

  it('are told apart by whole addresses where only the other family has a prefix', async () => {
    await put(domain, { clientNetworks: { ipv4Prefix: 24 } })
    expect(await dealt(tcp6, [CLIENTS6])).toEqual({ together: 0, members: BOTH })
    await put(domain, { clientNetworks: { ipv6Prefix: 64 } })
    expect(await dealt(tcp6, [CLIENTS6])).toMatchObject({ together: 1 })
    expect((await dealt(tcp, NETWORKS)).together).toBeLessThan(8)
  })
}

describe('clients of one network', () => {
  sharedMembers(gateway)

  it('have one member over SCTP', async () => {
    let port = 20_000
    const sctp: Ask = async (source) => {
      const answer = await askSctp(lab.namespace('client'), VIP[4], SCTP_PORT, port++, { source })
      return 'line' in answer ? answer.line.slice(0, 4) : JSON.stringify(answer)
    }
    const few = NETWORKS.slice(0, 3)
    await put(gateway, { clientNetworks: { ipv4Prefix: 28 } })
    expect(await dealt(sctp, few)).toEqual({ together: 3, members: BOTH })
    await put(gateway, {})
    expect((await dealt(sctp, few)).together).toBeLessThan(3)
  })

  it('are remembered as one client', async () => {
    const [[first = '', ...others] = [], [foreign = ''] = []] = NETWORKS
    const wish = { clientNetworks: { ipv4Prefix: 28 }, keepSeconds: 600 }
    await put(gateway, wish)
    const had = await tcp(first)
    await put(gateway, { ...wish, isTurned: true })
    expect(await answersOf(tcp, [first, ...others])).toEqual([had])
    // For a client that is not remembered the slots decide, as for all clients when none are remembered.
    const now = await tcp(foreign)
    await put(gateway, { clientNetworks: wish.clientNetworks, isTurned: true })
    expect(await tcp(foreign)).toBe(now)
    expect(await tcp(first)).not.toBe(had)
  })
})

describe('clients of one network, return path dsr', () => {
  beforeAll(async () => {
    await holdVips(lab, ['red1', 'red2'], [`${VIP[4]}/32`, `${VIP[6]}/128`])
    for (const name of ['red1', 'red2']) await lab.peer(name).serve(UDP_PORTS.dsr, VIP[4])
  })

  sharedMembers(dsr)

  it("get a router's error to the member that has them when answers are too long for the way", async () => {
    await put(dsr, { clientNetworks: { ipv4Prefix: 28 } })
    await lab.run('router', 'ip link set dev fabric mtu 1300')
    const flows = await Promise.all(NETWORKS.map(([source = '']) => client.open(VIP[4], 8080, { source })))
    expect([...new Set(flows.map(({ line }) => line.slice(0, 4)))].toSorted()).toEqual(BOTH)
    const long = 'x'.repeat(8000)
    const said = await Promise.all(flows.map(({ connection }) => client.say(connection, long)))
    expect(said.filter((answer) => !/^x{1000}/.test(answer))).toEqual([])
    await Promise.all(flows.map(({ connection }) => client.close(connection)))
  })
})
