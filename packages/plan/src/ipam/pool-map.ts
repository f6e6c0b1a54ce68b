import type { Address, AddressPool } from '@spout/model'
import { compareIp, formatIp, type Ip, type IpRange, parseIp, rangeContains } from '@spout/net'
import { poolSpace } from './address-space.ts'

/** A part of a pool: free addresses, some that are never given out, or one that somebody has. */
export type PoolPart<A> =
  | { readonly state: 'free' | 'excluded'; readonly first: string; readonly last: string }
  | { readonly state: 'taken'; readonly address: A }

type Taken = Pick<Address, 'address'>

/**
 * A pool as a map, range by range: what is free, what is excluded (its gateway, the ends of its subnet), and each address
 * that is in use or rests. Its length depends on how many addresses are taken, not on the size of the pool.
 */
export function* poolMap<A extends Taken>(
  pool: Pick<AddressPool, 'id' | 'name' | 'ranges' | 'cidr' | 'gatewayIp'>,
  addresses: readonly A[],
): Generator<PoolPart<A>, undefined> {
  const taken = addresses
    .map((address) => ({ ip: parseIp(address.address), address }))
    .sort((a, b) => compareIp(a.ip, b.ip))
  const { whole, ranges } = poolSpace(pool)
  for (const range of whole) {
    const inRange = taken.filter(({ ip }) => rangeContains(range, ip))
    let next = range.first
    // What is given out are parts of the range, in order.
    for (const part of ranges.filter(({ version, first, last }) => isWithin(range, version, first, last))) {
      yield* partsOf({ ...range, first: next, last: part.first - 1n }, 'excluded', inRange)
      yield* partsOf(part, 'free', inRange)
      next = part.last + 1n
    }
    yield* partsOf({ ...range, first: next }, 'excluded', inRange)
  }
}

const isWithin = (range: IpRange, version: IpRange['version'], first: bigint, last: bigint): boolean =>
  range.version === version && range.first <= first && last <= range.last

function* partsOf<A extends Taken>(
  range: IpRange,
  state: 'free' | 'excluded',
  taken: readonly { readonly ip: Ip; readonly address: A }[],
): Generator<PoolPart<A>, undefined> {
  const text = (value: bigint): string => formatIp({ version: range.version, value })
  let next = range.first
  for (const { ip, address } of taken) {
    if (!rangeContains(range, ip)) continue
    if (ip.value > next) yield { state, first: text(next), last: text(ip.value - 1n) }
    yield { state: 'taken', address }
    next = ip.value + 1n
  }
  if (next <= range.last) yield { state, first: text(next), last: text(range.last) }
}
