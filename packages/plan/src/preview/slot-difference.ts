import { NO_MEMBER, type NodePool } from '@spout/model/node-state'
import { decodeSlots, resizeSlots } from '../slots/slot-table.ts'

/** Hash slots, and how many of them get another member. */
interface SlotDifference {
  readonly size: number
  readonly moved: number
}

/** Null for a pool that the proxy balances, before or after. A pool that is new, or goes, moves nothing. */
export function slotDifference(before: NodePool | null, after: NodePool | null): SlotDifference | null {
  const slots = (after ?? before)?.slots ?? null
  if (slots === null) return null
  if (!before?.slots || !after?.slots) return { size: slots.size, moved: 0 }
  if (before.slots.table === after.slots.table && before.members === after.members)
    return { size: slots.size, moved: 0 }
  // A table of another size repeats or joins slots in place, so the larger one tells each flow apart.
  const size = before.slots.size > after.slots.size ? before.slots.size : after.slots.size
  const [was, is] = [ends(before), ends(after)]
  const old = resizeSlots(decodeSlots(before.slots), size)
  const now = resizeSlots(decodeSlots(after.slots), size)
  let moved = 0
  for (let slot = 0; slot < size; slot++) {
    const had = endAt(was, old[slot])
    if (had !== null && had !== endAt(is, now[slot])) moved++
  }
  return { size, moved }
}

const ends = ({ members }: NodePool): readonly (string | null)[] =>
  members.map((member) => (member === null ? null : `${member.address} ${member.port}`))

const endAt = (all: readonly (string | null)[], index: number = NO_MEMBER): string | null => all[index] ?? null
