import { NO_MEMBER, type SlotTable } from '@spout/model/node-state'
import { decodeSlots, encodeSlots, resizeSlots, slotTableSize } from './slot-table.ts'

/** A slot table with the members that its indexes stand for. It is stored in the placement and sent to every node. */
export interface SlotAssignment {
  /** Member ids by index; null is a free index. */
  readonly members: readonly (string | null)[]
  readonly slots: SlotTable
}

export interface SlotMember {
  readonly id: string
  readonly weight: number
  readonly backup: boolean
}

/**
 * Edits a slot table for the wanted members, moving as few flows as possible.
 *
 * - Only a leaving member's slots are reassigned: no other flow moves. A joining member takes slots evenly.
 * - Slots are proportional to weights: within one slot of the ideal share when built and after joins, within two after
 *   departures or slight weight changes (moving flows for the last slot is worse than the imbalance).
 * - Members of weight 0 and backup members have an index and no slot (`effectiveSlots` gives backups theirs).
 * - A member keeps its index while it stays. Freed indexes are reused.
 * - Given its own result and the same members, it changes nothing.
 *
 * @param wanted ids are unique
 */
export function editSlots(previous: SlotsBefore | null, wanted: readonly SlotMember[]): SlotAssignment {
  const { members, slots } = placeMembers(previous, wanted)
  return { members: members.map((member) => member?.id ?? null), slots }
}

type SlotsBefore = { readonly members: readonly (string | null)[]; readonly slots: SlotTable | null }

/**
 * As `editSlots`, but returns the members themselves. It allocates little for unchanged members, because pools of
 * thousands change one member at a time.
 */
export function placeMembers<M extends SlotMember>(
  previous: SlotsBefore | null,
  wanted: readonly M[],
): { readonly members: readonly (M | null)[]; readonly slots: SlotTable } {
  const members = assignIndexes(previous?.members ?? [], wanted)
  const weights = members.map((member) => (member === null || member.backup ? 0 : member.weight))
  const groups: [number[], number[]] = [[], []]
  for (const { backup, weight } of wanted) if (weight > 0) groups[backup ? 1 : 0].push(weight)
  const size = slotTableSize(groups, previous?.slots?.size ?? null)
  const slots = previous?.slots ? resizeSlots(decodeSlots(previous.slots), size) : new Uint16Array(size).fill(NO_MEMBER)
  // If an index has another member now, its slots are free: the new member does not inherit them.
  const stays = members.map((member, index) => weights[index]! > 0 && previous?.members[index] === member?.id)
  for (let slot = 0; slot < slots.length; slot++) if (stays[slots[slot]!] !== true) slots[slot] = NO_MEMBER
  dealSlots(slots, weights)
  return { members, slots: encodeSlots(slots) }
}

function assignIndexes<M extends SlotMember>(previous: readonly (string | null)[], wanted: readonly M[]): (M | null)[] {
  // Most often the previous members are unchanged, and new ones follow.
  let same = 0
  while (same < previous.length && previous[same] === wanted[same]?.id) same++
  if (same === previous.length) return [...wanted]
  const left = new Map(wanted.map((member) => [member.id, member]))
  const members = previous.map((id) => {
    const member = id === null ? undefined : left.get(id)
    if (member === undefined) return null
    left.delete(member.id)
    return member
  })
  let free = 0
  for (const member of left.values()) {
    while (free < members.length && members[free] !== null) free++
    members[free] = member
  }
  while (members.at(-1) === null) members.pop()
  return members
}

/**
 * Brings every member to its target number of slots, in place: takes surplus slots and assigns free ones, in slot
 * order.
 * @param weights by member index
 */
export function dealSlots(slots: Uint16Array, weights: readonly number[]): void {
  const counts = weights.map(() => 0)
  for (const index of slots) if (index !== NO_MEMBER) counts[index]!++
  const targets = slotTargets(slots.length, weights, counts)
  const lacking = indexesOf(targets, (target, index) => target > counts[index]!)
  let turn = 0
  for (let slot = 0; slot < slots.length; slot++) {
    const index = slots[slot]!
    if (index !== NO_MEMBER) {
      if (counts[index]! <= targets[index]!) continue
      counts[index]!--
    }
    const taker = lacking[turn % lacking.length]
    if (taker === undefined) {
      slots[slot] = NO_MEMBER
      continue
    }
    slots[slot] = taker
    counts[taker]!++
    if (counts[taker] === targets[taker]) lacking.splice(turn % lacking.length, 1)
    else turn++
  }
}

/** How many slots each member should have. The sum is `size` unless no member has weight. */
function slotTargets(size: number, weights: readonly number[], counts: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return weights.map(() => 0)
  const ideal = weights.map((weight) => (size * weight) / total)
  const exact = largestRemainder(size, ideal, counts)
  return withoutTaking(exact, ideal, counts) ?? exact
}

/** Rounds the ideal shares. Members that already have a slot above their whole share are rounded up first. */
function largestRemainder(size: number, ideal: readonly number[], counts: readonly number[]): readonly number[] {
  const targets = ideal.map(Math.floor)
  const extras = size - targets.reduce((sum, target) => sum + target, 0)
  const holds = (index: number): number => (counts[index]! > targets[index]! ? 1 : 0)
  const remainder = (index: number): number => ideal[index]! - targets[index]!
  const line = indexesOf(ideal, (share) => share > 0).sort(
    (a, b) => holds(b) - holds(a) || remainder(b) - remainder(a) || a - b,
  )
  for (const index of line.slice(0, extras)) targets[index]!++
  return targets
}

/** The indexes for which `is` holds. Unlike a filter of entries, it allocates nothing for the thousands of others. */
function indexesOf(values: readonly number[], is: (value: number, index: number) => boolean): number[] {
  const indexes: number[] = []
  for (let index = 0; index < values.length; index++) if (is(values[index]!, index)) indexes.push(index)
  return indexes
}

/**
 * Targets under which every member keeps its slots; null if a member would then be a whole slot above or two below its
 * share.
 */
function withoutTaking(
  exact: readonly number[],
  ideal: readonly number[],
  counts: readonly number[],
): readonly number[] | null {
  if (counts.some((count, index) => count >= ideal[index]! + 1)) return null
  const targets = exact.map((target, index) => Math.max(target, counts[index]!))
  let over = targets.reduce((sum, target, index) => sum + target - exact[index]!, 0)
  const givers = indexesOf(targets, (target, index) => target > counts[index]!).sort(
    (a, b) => targets[b]! - ideal[b]! - (targets[a]! - ideal[a]!) || a - b,
  )
  for (const index of givers) {
    if (over === 0) break
    targets[index]!--
    over--
  }
  const starved = targets.some((target, index) => ideal[index]! - target >= (ideal[index]! < 2 ? 1 : 2))
  return over > 0 || starved ? null : targets
}
