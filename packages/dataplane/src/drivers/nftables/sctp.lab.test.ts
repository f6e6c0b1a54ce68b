import type { CheckSpec } from '@spout/model'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sctpCheck } from '../../checks/sctp.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode } from '../../testing/lab-node.ts'
import { holdVips } from '../../testing/nftables/direct-return.ts'
import { askSctp, type SctpAnswer, SctpServer, SILENT_S } from '../../testing/sctp-peer.ts'

const signal = new AbortController().signal
const VIP = { 4: '10.9.0.100', 6: 'fd09::100' } as const
const PORT = 3868
const MEMBER_PORT = 3900

const both = [
  member('m1', '10.0.0.11', { port: MEMBER_PORT }),
  member('m2', '10.0.0.12', { port: MEMBER_PORT }),
  member('m3', 'fd01::11', { port: MEMBER_PORT }),
  member('m4', 'fd01::12', { port: MEMBER_PORT }),
]
const gateway = domainEntry(1)
const snat = domainEntry(1, { returnPath: 'snat', gateway: null })
const dsr = domainEntry(1, { returnPath: 'dsr', gateway: null })

let lab: Arrangement
let node: LabNode
const servers: SctpServer[] = []

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  await node.domains.adopt([])
  for (const name of ['red1', 'red2']) servers.push(await SctpServer.start(lab.namespace(name), name, MEMBER_PORT))
})

afterAll(async () => {
  for (const server of servers) server[Symbol.dispose]()
  await node?.end([1])
  await lab?.[Symbol.asyncDispose]()
})

afterEach(async () => {
  await node.announcer.apply([], signal)
  await node.driver.apply({ put: [], remove: ['lb/a'] }, signal)
})

type Fields = Parameters<typeof wanted>[2]

async function put(domain: typeof gateway, fields: Fields = {}, down: readonly string[] = []): Promise<void> {
  expect(await node.domains.apply({ put: [domain], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  const entry = {
    vips: [vip(VIP[4]), vip(VIP[6])],
    services: [service('l1', PORT, 5, { protocol: 'sctp' })],
    pools: [pool(5, both)],
    ...fields,
  }
  const applied = await node.driver.apply({ put: [wanted('a', domain, entry, down)], remove: [] }, signal)
  expect(applied).toEqual([{ key: 'lb/a', state: 'programmed', reason: null, message: null }])
  const announcements = Object.values(VIP).map((address) => ({
    ...{ address, scope: 'fabric' as const, domain: 1, by: { via: 'l2' as const } },
  }))
  expect((await node.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

let nextPort = 20_000
const ask = (address: string, port = PORT, withinS?: number): Promise<SctpAnswer> =>
  askSctp(lab.namespace('client'), address, port, nextPort++, { withinS })

/** Who answered, and from where it seemed to come: the same each time but for the member. */
async function askOften(address: string): Promise<{ members: readonly string[]; seen: readonly string[] }> {
  const answers = await Promise.all(Array.from({ length: 16 }, () => ask(address)))
  for (const answer of answers) expect(answer).toMatchObject({ from: address, port: PORT })
  const lines = answers.map((answer) => ('line' in answer ? answer.line.split(' ') : []))
  const distinct = (at: number) => [...new Set(lines.map((words) => words[at] ?? ''))].toSorted()
  return { members: distinct(0), seen: distinct(1) }
}

const inDomain = (command: string) => lab.run('node1', `nsenter --net=/run/netns/${node.config.instance}-d1 ${command}`)

describe.each([
  ['gateway', gateway, { 4: '10.9.0.9', 6: 'fd09::9' }],
  ['snat', snat, { 4: '10.0.0.250', 6: 'fd01::250' }],
] as const)('SCTP, return path %s', (_, domain, seen) => {
  it.each([4, 6] as const)(
    'associations over IPv%d reach the members, translated and with valid checksums',
    async (version) => {
      await put(domain)
      expect(await askOften(VIP[version])).toEqual({ members: ['red1', 'red2'], seen: [seen[version]] })
    },
  )

  it('checks of members pass the guard and leave no flow behind', async () => {
    await put(domain)
    const check = sctpCheck(node.helper, (id) => node.domains.netns(id))
    const spec: CheckSpec = { type: 'sctp', intervalMs: 1_000, timeoutMs: 30_000, rise: 1, fall: 1, http: null }
    const tracked = async () => (await inDomain('cat /proc/net/nf_conntrack')).match(/ sctp .*/g)?.length ?? 0
    const before = await tracked()
    for (const { address, port } of both)
      expect(await check.run({ domain: 1, address, port, spec })).toMatchObject({ ok: true, reason: null })
    expect(await tracked()).toBe(before)
  })

  it('is a listener beside TCP and UDP of the same port', async () => {
    const others = [member('t1', '10.0.0.11'), member('t3', 'fd01::11')]
    await put(domain, {
      services: [
        service('l1', PORT, 5, { protocol: 'sctp' }),
        service('l2', PORT, 6),
        service('l3', PORT, 6, { protocol: 'udp' }),
      ],
      pools: [pool(5, both), pool(6, others)],
    })
    const client = lab.peer('client')
    expect(await client.connect(VIP[4], PORT)).toBe(`red1 ${seen[4]}`)
    expect(await client.datagram(VIP[4], PORT)).toBe(`red1 ${seen[4]}`)
    expect(await ask(VIP[4])).toMatchObject({ from: VIP[4], port: PORT })
    const answers = await node.driver.stats()
    const of = (id: string) => answers.find(({ listenerId }) => listenerId === id)
    expect(of('l1')).toMatchObject({ totalConnections: 1 })
    expect(of('l1')!.bytesIn).toBeGreaterThan(100)
    expect(of('l1')!.bytesOut).toBeGreaterThan(100)
  })
})

describe('SCTP', () => {
  it('keeps clients, limits and sources as for other protocols', async () => {
    await put(gateway, { pools: [pool(5, both, { sourceAffinity: true })] })
    expect((await askOften(VIP[4])).members).toHaveLength(1)
    await put(gateway, { services: [service('l1', PORT, 5, { protocol: 'sctp', allowedCidrs: ['192.0.2.0/24'] })] })
    expect(await ask(VIP[4], PORT, SILENT_S)).toMatchObject({ error: 'TimeoutError' })
  })

  it('goes to members that are up, and to none where nothing listens', async () => {
    await put(gateway, {}, ['m1', 'm3'])
    expect((await askOften(VIP[4])).members).toEqual(['red2'])
    expect(await ask(VIP[4], PORT + 1, SILENT_S)).toMatchObject({ error: 'TimeoutError' })
  })

  it('of a member that begins by itself does not leave through the node', async () => {
    await put(gateway)
    using _ = await SctpServer.start(lab.namespace('client'), 'client', 4000)
    const answer = await askSctp(lab.namespace('red1'), '10.9.0.9', 4000, 30_000, { withinS: SILENT_S })
    expect(answer).toMatchObject({ error: 'TimeoutError' })
  })

  it('is forgotten by the kernel once a member has left and its time is over', async () => {
    await put(gateway, { pools: [pool(5, both.slice(0, 1), { drainMs: 0 })] })
    expect(await askSctp(lab.namespace('client'), VIP[4], PORT, 30_001)).toMatchObject({ line: 'red1 10.9.0.9' })
    const isTracked = async () =>
      / sctp .*ESTABLISHED .* sport=30001 /.test(await inDomain('cat /proc/net/nf_conntrack'))
    expect(await isTracked()).toBe(true)
    await put(gateway, { pools: [pool(5, both.slice(1, 2), { drainMs: 0 })] })
    expect(await isTracked()).toBe(false)
    expect(await ask(VIP[4])).toMatchObject({ line: 'red2 10.9.0.9' })
  })
})

describe('SCTP, return path dsr', () => {
  it('reaches members that hold the VIP as it came, and they answer by themselves', async () => {
    await holdVips(lab, ['red1', 'red2'], [`${VIP[4]}/32`, `${VIP[6]}/128`])
    for (const name of ['red1', 'red2'])
      servers.push(await SctpServer.start(lab.namespace(name), name, PORT, Object.values(VIP)))
    await put(dsr, {
      pools: [
        pool(
          5,
          both.map((each) => ({ ...each, port: PORT })),
        ),
      ],
    })
    for (const version of [4, 6] as const) {
      const seen = version === 4 ? '10.9.0.9' : 'fd09::9'
      expect(await askOften(VIP[version])).toEqual({ members: ['red1', 'red2'], seen: [seen] })
    }
  })
})
