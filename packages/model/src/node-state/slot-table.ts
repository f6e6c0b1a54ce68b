/**
 * Says which member serves which hash slot. `table` is base64 of `size` little-endian 16-bit member indexes; 0xffff is
 * an empty slot. The planner edits the previous table, so a member that leaves moves only its own flows.
 */
export interface SlotTable {
  readonly size: SlotTableSize
  readonly table: string
}

export const SLOT_TABLE_SIZES = [64, 256, 1024, 4096] as const

/** Members of a pool that is balanced per connection: each needs a slot. */
export const MOST_SLOTS = SLOT_TABLE_SIZES.at(-1)!

export type SlotTableSize = (typeof SLOT_TABLE_SIZES)[number]

export const NO_MEMBER = 0xffff
