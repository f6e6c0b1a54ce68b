import { execOk } from '@spout/sys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WantedEntry } from '../../contracts/driver.ts'
import { domainNames } from '../../domain/domain-names.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode } from '../../testing/lab-node.ts'
import type { Peer } from '../../testing/peer-client.ts'
import { MOST_KEPT_CLIENTS } from './kept-clients.ts'

const signal = new AbortController().signal
const red = domainEntry(1)
const v4 = [member('m1', '10.0.0.11'), member('m2', '10.0.0.12')]
const v6 = [member('m3', 'fd01::11'), member('m4', 'fd01::12')]
const VIP = '10.9.0.100'
const VIP6 = 'fd09::100'
/** Time-out of an `nft` command that adds thirty thousand clients. */
const NFT_MS = 100_000

let lab: Arrangement
let node: LabNode
let client: Peer

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  client = lab.peer('client')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red], remove: [] }, signal)
})

afterAll(async () => {
  await node?.domains.apply({ put: [], remove: [red.key] }, signal)
  await node?.die()
  await lab?.[Symbol.asyncDispose]()
})

/** One member has the first half of the slots, the other the second, or the other way round. */
function halves(isTurned: boolean, size: 64 | 256 | 1024 | 4096) {
  const table = Buffer.alloc(2 * size)
  for (let slot = 0; slot < size; slot++) table.writeUInt16LE(slot < size / 2 === isTurned ? 1 : 0, 2 * slot)
  return { size, table: table.toString('base64') }
}

interface Changes {
  readonly keepSeconds?: number
  readonly isTurned?: boolean
  readonly down?: readonly string[]
  readonly size?: 64 | 256 | 1024 | 4096
}

const entryOf = ({ keepSeconds, isTurned = false, down = [], size = 64 }: Changes): WantedEntry => {
  const kept = { slots: halves(isTurned, size), sourceAffinity: true, ...(keepSeconds && { keepSeconds }) }
  return wanted(
    'a',
    red,
    {
      vips: [vip(VIP), vip(VIP6)],
      services: [
        service('l1', 80, 5),
        service('l2', 53, 5, { protocol: 'udp' }),
        service('l3', 81, 6),
        service('l4', 82, 5, { connectionLimit: 10, allowedCidrs: ['10.9.0.0/24'] }),
      ],
      pools: [pool(5, v4, kept), pool(6, v6, kept)],
    },
    down,
  )
}

async function put(changes: Changes): Promise<void> {
  const entry = entryOf(changes)
  const applied = await node.driver.apply({ put: [entry], remove: [] }, signal)
  expect(applied.map(({ state, message }) => ({ state, message }))).toEqual([{ state: 'programmed', message: null }])
  const announcements = entry.entry.vips.map(({ address, scope }) => ({
    address,
    scope,
    domain: entry.entry.domain,
    by: { via: 'l2' as const },
  }))
  expect((await node.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

const nft = (commands: string): Promise<string> =>
  execOk(['ip', 'netns', 'exec', domainNames(node.config, red.number).namespace, 'nft', '-f', '-'], {
    input: commands,
    timeoutMs: NFT_MS,
  })
const forget = (): Promise<string> => nft('flush map inet spout kept4; flush map inet spout kept6')
/** The remembered IPv4 clients, one a line. */
const remembered = async (): Promise<readonly string[]> =>
  (await nft('list map inet spout kept4')).match(/0x[0-9a-f]+ \. [0-9a-f]+:[0-9a-f]+ timeout/g) ?? []

/** The member that answers a client, by its number. */
const asks = {
  tcp: async (): Promise<string> => (await client.connect(VIP, 80)).slice(0, 4),
  udp: async (): Promise<string> => (await client.datagram(VIP, 53)).slice(0, 4),
  'tcp over IPv6': async (): Promise<string> => (await client.connect(VIP6, 81)).slice(0, 4),
  'tcp with a limit and a list of sources': async (): Promise<string> => (await client.connect(VIP, 82)).slice(0, 4),
} as const

const other = (name: string): string => (name === 'red1' ? 'red2' : 'red1')

describe('clients that are remembered', () => {
  it.each(Object.entries(asks))('keep their member when the slots lead elsewhere: %s', async (_, ask) => {
    await put({ keepSeconds: 86_400 })
    await forget()
    const first = await ask()
    expect(first).toMatch(/^red[12]$/)
    await put({ keepSeconds: 86_400, isTurned: true })
    expect(await ask()).toBe(first)
    // Without remembered clients the slots decide.
    await put({ isTurned: true })
    expect(await ask()).toBe(other(first))
  })

  it.each([256, 1024, 4096] as const)('in a pool of %d slots', async (size) => {
    await put({ keepSeconds: 600, size })
    await forget()
    const first = await asks.tcp()
    await put({ keepSeconds: 600, isTurned: true, size })
    expect(await asks.tcp()).toBe(first)
  })

  it('are led by the slots again once the time is over', async () => {
    await put({ keepSeconds: 2 })
    await forget()
    const first = await asks.tcp()
    await put({ keepSeconds: 2, isTurned: true })
    await expect.poll(remembered, { timeout: 20_000 }).toEqual([])
    expect(await asks.tcp()).toBe(other(first))
  })

  it('begin their time anew with each connection, over each listener of the pool', async () => {
    await put({ keepSeconds: 3600 })
    await forget()
    await asks.tcp()
    const expires = async (): Promise<number> => {
      const [, minutes = '0', seconds = '0'] =
        /expires (?:(\d+)m)?(?:(\d+)s)?/.exec(await nft('list map inet spout kept4')) ?? []
      return 60 * Number(minutes) + Number(seconds)
    }
    await expect.poll(expires, { timeout: 10_000 }).toBeLessThan(3598)
    const askedAt = performance.now()
    await asks.udp()
    expect(await remembered()).toHaveLength(1)
    // The time until the reading counts against the new time-out.
    const left = await expires()
    expect(left + (performance.now() - askedAt) / 1000).toBeGreaterThanOrEqual(3598)
  })

  it('change at once when their member is down, and stay with the new one', async () => {
    await put({ keepSeconds: 600 })
    await forget()
    const first = await asks.tcp()
    await put({ keepSeconds: 600, down: [first === 'red1' ? 'm1' : 'm2'] })
    expect(await asks.tcp()).toBe(other(first))
    await put({ keepSeconds: 600 })
    expect(await asks.tcp()).toBe(other(first))
  })

  it('get the same member of a node that remembers nothing, while the slots are the same', async () => {
    await put({ keepSeconds: 600 })
    await forget()
    const first = await asks.tcp()
    await forget()
    expect(await asks.tcp()).toBe(first)
  })

  it('are served by the slots when the memory is full', async () => {
    await put({ keepSeconds: 600 })
    await forget()
    const elements = Array.from(
      { length: MOST_KEPT_CLIENTS },
      (_, at) => `0x1 . ac10:${at.toString(16)} timeout 600s : 1`,
    )
    await nft(`add element inet spout kept4 { ${elements.join(', ')} }`)
    const first = await asks.tcp()
    await put({ keepSeconds: 600, isTurned: true })
    expect(await asks.tcp()).toBe(other(first))
    await forget()
  })
})
