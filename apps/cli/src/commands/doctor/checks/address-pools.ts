import type { AddressPool } from '@spout/model'
import { parseIp, rangeSize } from '@spout/net'
import type { Finding } from '@spout/runtime/findings'
import type { Facts } from '../facts.ts'

/** A pool with less than this share of its addresses left is a warning. */
const FEW = 0.1

/** Address pools that run out. */
export function checkAddressPools({ pools, addresses }: Facts): readonly Finding[] {
  const used = Map.groupBy(addresses, ({ holderId }) => holderId)
  return pools.filter(({ draining }) => !draining).map((pool) => roomOf(pool, used.get(pool.id)?.length ?? 0))
}

function roomOf({ name, ranges }: AddressPool, used: number): Finding {
  const size = ranges.reduce((sum, { first, last }) => sum + sizeOf(first, last), 0n)
  const free = size - BigInt(used)
  const about = { check: 'address pools', subject: name, message: `${used} of ${size} addresses are used.` }
  const fix = 'make another pool: spout address-pool create NAME --ranges FIRST-LAST --cidr SUBNET'
  if (free <= 0n) return { ...about, level: 'error', fix }
  return Number(free) < Number(size) * FEW ? { ...about, level: 'warning', fix } : { ...about, level: 'ok', fix: null }
}

function sizeOf(first: string, last: string): bigint {
  const { version, value } = parseIp(first)
  return rangeSize({ version, first: value, last: parseIp(last).value })
}
