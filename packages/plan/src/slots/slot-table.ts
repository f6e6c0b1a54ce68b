import { NO_MEMBER, SLOT_TABLE_SIZES, type SlotTable, type SlotTableSize } from '@spout/model/node-state'

/**
 * Encodes member indexes as base64 of little-endian 16-bit numbers, the format of the store and of nodes. The
 * processors that Spout runs on are little-endian, so the array's bytes need no conversion.
 */
export function encodeSlots(slots: Uint16Array): SlotTable {
  const size = SLOT_TABLE_SIZES.find((known) => known === slots.length)
  if (size === undefined) throw new RangeError(`a slot table cannot have ${slots.length} slots`)
  return { size, table: new Uint8Array(slots.buffer, slots.byteOffset, slots.byteLength).toBase64() }
}

/** Decodes a table. Missing slots are `NO_MEMBER`; surplus ones are ignored. */
export function decodeSlots(table: SlotTable): Uint16Array<ArrayBuffer> {
  const bytes = Uint8Array.fromBase64(table.table)
  const known = Math.min(table.size, bytes.length >>> 1)
  const slots = new Uint16Array(table.size).fill(NO_MEMBER, known)
  slots.set(new Uint16Array(bytes.buffer, 0, known))
  return slots
}

/** Minimum of slots per member on average. With fewer, a single slot is more than some 6 % of a member's load. */
const SLOTS_PER_MEMBER = 16
/** Minimum of slots for the member with the smallest weight, so that ratios such as 1 : 100 are kept. */
const SLOTS_OF_LIGHTEST = 4
/**
 * A table shrinks only if the smaller one has room for this many times the needed slots: shrinking moves flows, and a
 * slot costs only 82 bytes.
 */
const SHRINK_MARGIN = 4

const LARGEST = SLOT_TABLE_SIZES.at(-1)!

/**
 * The size at which each group of members (ordinary ones, backups) can share the table by weight. It stays at
 * `current`, unless that is too small or far too large.
 * @param groups the weights of each group's members, all above 0
 */
export function slotTableSize(groups: readonly (readonly number[])[], current: SlotTableSize | null): SlotTableSize {
  const need = Math.max(...groups.map(slotsNeeded))
  const wanted = fitting(need)
  if (current === null || wanted >= current) return wanted
  const roomy = fitting(SHRINK_MARGIN * need)
  return roomy < current ? roomy : current
}

const fitting = (slots: number): SlotTableSize => SLOT_TABLE_SIZES.find((size) => size >= slots) ?? LARGEST

function slotsNeeded(weights: readonly number[]): number {
  if (weights.length < 2) return 0
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const lightest = weights.reduce((least, weight) => Math.min(least, weight))
  return Math.max(SLOTS_PER_MEMBER * weights.length, (SLOTS_OF_LIGHTEST * total) / lightest)
}

/**
 * The same table in another size. The packet path selects a slot by the upper bits of the hash (`hash * size >> 32`, as
 * the kernel's jhash expression does). So a larger table that repeats each slot in place keeps every flow at its
 * member.
 */
export function resizeSlots(slots: Uint16Array<ArrayBuffer>, size: SlotTableSize): Uint16Array<ArrayBuffer> {
  if (slots.length === size) return slots
  return Uint16Array.from({ length: size }, (_, slot) => slots[Math.floor((slot * slots.length) / size)]!)
}
