import { NO_MEMBER, type NodePool } from '@spout/model/node-state'
import { mix } from './mix.ts'

/**
 * By member id: how many percent of its full share a member has now. Members without an entry have their full share.
 */
export type Shares = ReadonlyMap<string, number>

/**
 * Slots that members in slow start do not serve yet. Each member takes its slots in a fixed order that does not depend
 * on the others, so a growing share only adds slots.
 *
 * Shares are relative to the largest share: members that all came up together share the table as if none of them were
 * new.
 *
 * @param base member indexes by slot
 * @param up by member index
 * @returns null when every member has its full share
 */
export function withheldSlots(
  base: Uint16Array,
  members: NodePool['members'],
  up: readonly boolean[],
  shares: Shares,
): ReadonlySet<number> | null {
  if (shares.size === 0) return null
  const serving = members.map((member, index) => (member !== null && up[index] ? (shares.get(member.id) ?? 100) : null))
  const largest = serving.reduce<number>((most, share) => Math.max(most, share ?? 0), 0)
  const rising = new Map<number, number[]>()
  for (const [index, share] of serving.entries()) if (share !== null && share < largest) rising.set(index, [])
  if (rising.size === 0) return null
  for (const [slot, index] of base.entries()) if (index !== NO_MEMBER) rising.get(index)?.push(slot)
  const withheld = new Set<number>()
  for (const [index, slots] of rising) {
    const kept = Math.ceil((slots.length * serving[index]!) / largest)
    const ranked = slots.toSorted((a, b) => mix(a) - mix(b) || a - b)
    for (const slot of ranked.slice(kept)) withheld.add(slot)
  }
  return withheld
}
