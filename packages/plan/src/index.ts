/**
 * Pure planning: data in, decisions with reasons out.
 *
 * Which slot a member serves, which address is free, what a quota leaves, which node announces, what each node gets.
 * It never does I/O, reads no clock and throws for nobody's bad wish: what cannot be is a reason.
 */
export { editSlots, type SlotAssignment, type SlotMember } from './slots/edit-slots.ts'
export { effectiveSlots } from './slots/effective-slots.ts'
export { decodeSlots, encodeSlots } from './slots/slot-table.ts'
