import { NO_MEMBER, type NodePool } from '@spout/model/node-state'
import { effectiveMembers } from '../health/effective-members.ts'
import { dealSlots } from './edit-slots.ts'
import { mix } from './mix.ts'
import { refusingSlots } from './refusing-slots.ts'
import { type Shares, withheldSlots } from './rising-members.ts'
import { decodeSlots } from './slot-table.ts'

/** Limit of random tries for a healthy slot. If a tenth of the slots is healthy, they succeed for 97 of 100 slots. */
const MOST_TRIES = 32

/**
 * The slot table adjusted for health: healthy members serve the slots of members that are down. All other slots are
 * unchanged. If every member is up, it is the pool's own table.
 *
 * For a slot whose member is down, other slots are tried in an order that depends only on the slot's number. The first
 * healthy member that is found serves it. So shares follow the weights, a further failure moves only its own slots, and
 * every node with the same `down` gets the same table.
 *
 * Slots that refuse connections (`refusedPercent`) are `NO_MEMBER`, whatever the members' health.
 *
 * `effectiveMembers` decides which members count as healthy. A slot that none can serve is `NO_MEMBER`. A member in
 * slow start serves a part of its slots; the rest are served as if it were down.
 *
 * @param down ids of members that are down
 * @param shares of members in slow start
 * @returns `pool.slots.size` member indexes; empty for a pool without a table
 */
export function effectiveSlots(
  pool: Pick<NodePool, 'members' | 'slots' | 'panicThreshold' | 'refusedPercent'>,
  down: ReadonlySet<string>,
  shares: Shares = NO_SHARES,
): Uint16Array {
  if (pool.slots === null) return new Uint16Array(0)
  const base = decodeSlots(pool.slots)
  const table = servingSlots(base, pool, down, shares)
  if (pool.refusedPercent === undefined) return table
  const refusing = refusingSlots(base, pool.refusedPercent)
  return table.map((index, slot) => (refusing.has(slot) ? NO_MEMBER : index))
}

function servingSlots(
  base: Uint16Array,
  pool: Pick<NodePool, 'members' | 'panicThreshold'>,
  down: ReadonlySet<string>,
  shares: Shares,
): Uint16Array {
  if (shares.size === 0 && areAllUp(pool.members, down)) return base
  const effective = effectiveMembers(pool, down)
  const up = pool.members.map((member) => member !== null && effective.has(member.id))
  const onBackups = pool.members.some((member, index) => member?.backup && up[index])
  const weights = pool.members.map((member) => (member?.backup === onBackups ? member.weight : 0))
  const table = onBackups ? dealt(base.length, weights) : base
  const withheld = withheldSlots(table, pool.members, up, shares)
  const isWhole = weights.every((weight, index) => weight === 0 || up[index])
  return isWhole && withheld === null ? table : servedByHealthy(table, pool.members, up, withheld)
}

const NO_SHARES: Shares = new Map()

/**
 * Whether no member is down and an ordinary member serves, so that the table is unchanged. It allocates nothing,
 * because there may be thousands of members.
 */
function areAllUp(members: NodePool['members'], down: ReadonlySet<string>): boolean {
  let carries = false
  for (const member of members) {
    if (member === null) continue
    if (down.size > 0 && down.has(member.id)) return false
    carries ||= member.weight > 0 && !member.backup
  }
  return carries
}

function dealt(size: number, weights: readonly number[]): Uint16Array {
  const table = new Uint16Array(size).fill(NO_MEMBER)
  dealSlots(table, weights)
  return table
}

function servedByHealthy(
  base: Uint16Array,
  members: NodePool['members'],
  up: readonly boolean[],
  withheld: ReadonlySet<number> | null,
): Uint16Array {
  const healthy = base.map((index, slot) => (up[index] === true && !withheld?.has(slot) ? index : NO_MEMBER))
  const served = healthy.filter((index) => index !== NO_MEMBER)
  if (served.length === base.length) return healthy
  // Beside the weights of the others, those of the healthy members may be too small for a single slot. Then the healthy
  // ones share the whole table.
  if (served.length === 0)
    return dealt(
      base.length,
      up.map((isUp, index) => (isUp ? members[index]!.weight : 0)),
    )
  const size = base.length
  const mask = size - 1 // a power of two
  return healthy.map((index, slot) => {
    if (index !== NO_MEMBER) return index
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const candidate = healthy[mix(slot + tries * size) & mask]!
      if (candidate !== NO_MEMBER) return candidate
    }
    return firstHealthy(healthy, mix(slot) & mask)
  })
}

/**
 * The first healthy member from a slot on. Each slot starts elsewhere, so that a change of health moves few other
 * slots.
 */
function firstHealthy(healthy: Uint16Array, from: number): number {
  for (let step = 0; step < healthy.length; step++) {
    const candidate = healthy[(from + step) % healthy.length]!
    if (candidate !== NO_MEMBER) return candidate
  }
  return NO_MEMBER
}
