import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../domain/run.ts'
import { domainEntry } from '../../testing/entries.ts'
import type { LabNode } from '../../testing/lab-node.ts'
import { type OpenFlow, TwoNodes } from '../../testing/nftables/two-nodes.ts'
import type { Peer } from '../../testing/peer-client.ts'

const SEGMENTS = fileURLToPath(new URL('../../testing/segments.py', import.meta.url))
const signal = new AbortController().signal
/** Another tenant. Its member has the address and port of a member of the first tenant. */
const blue = domainEntry(2, { segment: { physicalNetwork: 'blue', vlan: null } })

let nodes: TwoNodes
let first: LabNode
let second: LabNode
let client: Peer

beforeAll(async () => {
  nodes = await TwoNodes.create()
  ;({ first, second, client } = nodes)
})

afterAll(async () => {
  await first?.domains.apply({ put: [], remove: [blue.key] }, signal)
  await nodes?.[Symbol.asyncDispose]()
})

beforeEach(async () => {
  await nodes.moveReplies(first)
  await nodes.moveRequests(first)
})

/** Both members end their connections. @returns how each client's connection ended */
async function part(how: 'end' | 'reset', opened: readonly OpenFlow[]): Promise<readonly string[]> {
  const endings = opened.map(({ connection }) => client.ending(connection))
  let ended = 0
  for (const place of ['red1', 'red2']) ended += Number(await nodes.lab.peer(place).part(how))
  expect(ended).toBeGreaterThanOrEqual(opened.length)
  return Promise.all(endings)
}

const served = async (): Promise<number> =>
  (await nodes.lab.peer('red1').served()) + (await nodes.lab.peer('red2').served())

const resetAll = async (opened: readonly OpenFlow[]): Promise<void> => {
  for (const { connection } of opened) await client.reset(connection)
}

/** How a member closes, and what the client's system calls that. */
const HOW = [
  ['end', 'ended'],
  ['reset', 'ECONNRESET'],
] as const

describe('a member that closes a connection which a node has not seen', () => {
  it.each(HOW)('is heard by a client that only listens: %s', async (how, heard) => {
    const opened = await nodes.openFrom(how === 'end' ? 41_100 : 41_110)
    await nodes.moveReplies(second)
    await nodes.moveRequests(second)
    expect(await part(how, opened)).toEqual(opened.map(() => heard))
    await resetAll(opened)
  })

  it.each(HOW)('is heard while the requests take another way: %s', async (how, heard) => {
    const opened = await nodes.openFrom(how === 'end' ? 41_120 : 41_130)
    await nodes.moveReplies(second)
    expect(await part(how, opened)).toEqual(opened.map(() => heard))
    await resetAll(opened)
    // The same ports can be used again.
    await nodes.moveReplies(first)
    await resetAll(await nodes.openFrom(opened[0]!.sourcePort))
  })
})

describe('a client that closes a connection which a node has not seen', () => {
  it('is heard by the member, and hears it close too', async () => {
    await nodes.lab.peer('red1').part('reset')
    await nodes.lab.peer('red2').part('reset')
    await expect.poll(served).toBe(0)
    const opened = await nodes.openFrom(41_140)
    expect(await served()).toBe(opened.length)
    await nodes.moveReplies(second)
    await nodes.moveRequests(second)
    for (const { connection } of opened) await client.end(connection)
    const endings = opened.map(({ connection }) => client.ending(connection))
    expect(await Promise.all(endings)).toEqual(opened.map(() => 'ended'))
    await expect.poll(served).toBe(0)
  })
})

describe('what belongs to no connection', () => {
  const CLIENT = { 4: '10.9.0.9', 6: 'fd09::9' } as const
  const ADDRESS = { red1: ['10.0.0.11', 'fd01::11'], red9: ['10.0.0.99', 'fd01::99'] } as const

  /** Flags, source and port of the TCP segments to this port that the client got. */
  async function seen(port: number): Promise<readonly string[]> {
    const { nftables } = JSON.parse(await nodes.lab.run('client', 'nft -j list table inet seen')) as Listing
    return nftables
      .flatMap(({ set }) => (set?.elem ?? []).map(({ concat }) => [set!.name.slice(0, -1), ...concat] as const))
      .filter(([, , , to]) => to === port)
      .map(([flags, source, from]) => `${flags} ${source} ${from}`)
      .sort()
  }

  /** One script for all of them: forty would take longer to start than a test has time on a busy machine. */
  async function send(
    place: string,
    addresses: readonly string[],
    sourcePort: number,
    port: number,
    each: readonly string[],
  ): Promise<void> {
    const segments = each.flatMap((flags) =>
      addresses.map((source) => {
        return { source, sourcePort, destination: CLIENT[source.includes(':') ? 6 : 4], port, flags }
      }),
    )
    const words = ['netns', 'exec', nodes.lab.namespace(place), 'python3', SEGMENTS, JSON.stringify(segments)]
    await run('ip', words)
  }

  beforeAll(async () => {
    const lines = [4, 6].flatMap((version) => {
      const what = `${version === 4 ? 'ip' : 'ip6'} saddr . tcp sport . tcp dport`
      const bits = { FA: 'fin | ack', FPA: 'fin | psh | ack', R: 'rst', RA: 'rst | ack', SA: 'syn | ack', A: 'ack' }
      const sets = [...Object.keys(bits), 'other'].map(
        (name) => `set ${name}${version} { typeof ${what}; flags dynamic; }`,
      )
      const rules = Object.entries(bits).map(([name, flags]) => {
        return `tcp dport 42000-42099 tcp flags == ${flags} add @${name}${version} { ${what} } accept`
      })
      const rest = `tcp dport 42000-42099 add @other${version} { ${what} }`
      const hook = 'type filter hook prerouting priority raw;'
      return [...sets, `chain in${version} {`, hook, ...rules, rest, '}']
    })
    const table = ['table inet seen {', ...lines, '}'].join('\n')
    await run('ip', ['netns', 'exec', nodes.lab.namespace('client'), 'nft', '-f', '-'], table)
  })

  it('is passed on as what a member may say of a connection: that it ends, or is reset', async () => {
    await nodes.moveReplies(second)
    const vips = ['10.9.0.140 80', 'fd09::140 80']
    const told = ['FA', 'FPA', 'R', 'RA']
    await send('red1', ADDRESS.red1, 8080, 42_000, told)
    const expected = told.flatMap((flags) => vips.map((vip) => `${flags} ${vip}`)).sort()
    await expect.poll(() => seen(42_000)).toEqual(expected)
  })

  it('is dropped in any other form, or from any other host', async () => {
    const put = [{ ...blue, gateway: { via: 'l2' } as const }]
    expect(await first.domains.apply({ put, remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
    await send('red1', ADDRESS.red1, 8080, 42_001, ['S', 'SA', '', 'F', 'FS', 'FPU', 'SFRA', 'FRA', 'SRA'])
    // No member's port, no member, another tenant's host.
    for (const [place, addresses, sourcePort] of [
      ['red1', ADDRESS.red1, 8081],
      ['red9', ADDRESS.red9, 8080],
      ['blue1', ADDRESS.red1, 8080],
    ] as const)
      await send(place, addresses, sourcePort, 42_001, ['FA', 'R', 'RA'])
    // These packets passed before this one.
    await send('red1', ADDRESS.red1, 8080, 42_001, ['A'])
    await expect.poll(() => seen(42_001)).toEqual(['A 10.9.0.140 80', 'A fd09::140 80'])
  })
})

interface Listing {
  readonly nftables: readonly {
    readonly set?: { readonly name: string; readonly elem?: readonly { readonly concat: readonly unknown[] }[] }
  }[]
}
