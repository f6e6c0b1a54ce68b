import { expect, it } from 'vitest'
import type { Rendered } from './rendered.ts'
import { ServiceStatistics } from './service-statistics.ts'
import { SETS } from './sets.ts'

/** A load balancer with so many listeners and one VIP. */
const entryOf = (listeners: number): Rendered => {
  const services = Array.from({ length: listeners }, (_, at) => ({ listenerId: `listener-${at}` }))
  const records = new Map([['opened4', Buffer.alloc(listeners * SETS.opened4.keyBytes)]])
  return { table: 'translating', loadBalancerId: 'lb', services, records } as unknown as Rendered
}

/** Reads the counters, which takes so long, and again five seconds later. @returns the connections then, of one listener */
async function connectionsAfterAgain(listeners: number, tookMs: number): Promise<number | undefined> {
  let [nowMs, counted, isFirst] = [0, 6, true]
  const nftCounters = async ({ keys, keyBytes }: { readonly keys: Buffer; readonly keyBytes: number }) => {
    if (isFirst) nowMs += tookMs
    isFirst = false
    return Array.from({ length: keys.length / keyBytes }, () => ({ packets: counted, bytes: 0 }))
  }
  const statistics = new ServiceStatistics({ helper: { nftCounters } as never, now: () => nowMs })
  const domains = new Map([['/run/netns/d1', [entryOf(listeners)]]])
  expect((await statistics.read(domains))[0]).toMatchObject({ totalConnections: 6 })
  counted = 16
  nowMs += 5_000
  return (await statistics.read(domains))[0]?.totalConnections
}

it('reads again after five seconds, however long a busy machine took for a few counters', async () => {
  expect(await connectionsAfterAgain(2, 400)).toBe(16)
})

it('reads many counters less often, since that costs time', async () => {
  expect(await connectionsAfterAgain(10_000, 150)).toBe(6)
})

it('asks for the listeners of an entry that was changed since', async () => {
  const nftCounters = async ({ keys, keyBytes }: { readonly keys: Buffer; readonly keyBytes: number }) =>
    Array.from({ length: keys.length / keyBytes }, () => ({ packets: 6, bytes: 0 }))
  let nowMs = 0
  const statistics = new ServiceStatistics({ helper: { nftCounters } as never, now: () => nowMs })
  const read = async (listeners: number) => {
    nowMs += 60_000
    const domains = new Map([['/run/netns/d1', [entryOf(listeners)]]])
    return (await statistics.read(domains)).map(({ listenerId }) => listenerId)
  }
  expect(await read(1)).toEqual(['listener-0'])
  expect(await read(2)).toEqual(['listener-0', 'listener-1'])
})
