import type { Address, AddressPool } from '@spout/model'
import { formatIp, type Ip, parseIp } from '@spout/net'

export type AddressState = 'free' | 'taken' | 'resting'

/** Neighbouring addresses of a pool with the same state, project and use. */
export interface Run {
  readonly state: AddressState
  readonly first: string
  readonly last: string
  readonly count: bigint
  /** Null for addresses that are free, or Spout's own. */
  readonly projectId: string | null
  /** Null for addresses that are free. */
  readonly use: Address['use'] | null
  /** The load balancers that have them, in order; none for addresses that are reserved only. */
  readonly ownerIds: readonly string[]
  /** When the last of them may go to any project again; null unless they rest. */
  readonly until: string | null
}

type Pool = Pick<AddressPool, 'id' | 'ranges'>
type Held = Pick<Address, 'address' | 'holderId' | 'projectId' | 'use' | 'ownerId' | 'quarantineUntil'>

/**
 * A pool from its first address to its last, as few runs. The cost depends on the addresses in use, not on the size of
 * the pool, which may be an IPv6 network.
 * @param nowMs an address whose rest is over by then is free
 */
export function poolRuns(pool: Pool, addresses: readonly Held[], nowMs: number): readonly Run[] {
  const held = addresses
    .filter(({ holderId, quarantineUntil }) => holderId === pool.id && !isOver(quarantineUntil, nowMs))
    .map((address) => ({ address, ip: parseIp(address.address) }))
    .sort((a, b) => (a.ip.value < b.ip.value ? -1 : 1))
  return pool.ranges.flatMap((range) => {
    const [first, last] = [parseIp(range.first), parseIp(range.last)]
    const inside = held.filter(
      ({ ip }) => ip.version === first.version && ip.value >= first.value && ip.value <= last.value,
    )
    return rangeRuns(first, last, inside)
  })
}

const isOver = (until: string | null, nowMs: number): boolean => until !== null && Date.parse(until) <= nowMs

interface Placed {
  readonly address: Held
  readonly ip: Ip
}

function rangeRuns({ version, value: first }: Ip, last: Ip, held: readonly Placed[]): readonly Run[] {
  const runs: Run[] = []
  let next = first
  const free = (end: bigint): void => {
    if (end >= next) runs.push(runOf(version, next, end, null))
  }
  for (const { address, ip } of held) {
    if (ip.value < next) continue
    free(ip.value - 1n)
    const before = runs.at(-1)
    const run = runOf(version, ip.value, ip.value, address)
    if (before !== undefined && continues(before, run)) runs[runs.length - 1] = joined(before, run)
    else runs.push(run)
    next = ip.value + 1n
  }
  free(last.value)
  return runs
}

const runOf = (version: 4 | 6, first: bigint, last: bigint, held: Held | null): Run => ({
  state: held === null ? 'free' : held.quarantineUntil === null ? 'taken' : 'resting',
  first: formatIp({ version, value: first } as Ip),
  last: formatIp({ version, value: last } as Ip),
  count: last - first + 1n,
  projectId: held?.projectId ?? null,
  use: held?.use ?? null,
  ownerIds: held?.ownerId == null ? [] : [held.ownerId],
  until: held?.quarantineUntil ?? null,
})

const continues = (a: Run, b: Run): boolean => a.state === b.state && a.projectId === b.projectId && a.use === b.use

const joined = (a: Run, b: Run): Run => ({
  ...a,
  last: b.last,
  count: a.count + b.count,
  ownerIds: [...new Set([...a.ownerIds, ...b.ownerIds])],
  until: a.until === null || b.until === null ? null : a.until > b.until ? a.until : b.until,
})

export type PoolCounts = Readonly<Record<AddressState | 'all', bigint>>

export function countsOf(runs: readonly Run[]): PoolCounts {
  const of = (state: AddressState): bigint =>
    runs.reduce((sum, run) => (run.state === state ? sum + run.count : sum), 0n)
  const counts = { free: of('free'), taken: of('taken'), resting: of('resting') }
  return { ...counts, all: counts.free + counts.taken + counts.resting }
}
