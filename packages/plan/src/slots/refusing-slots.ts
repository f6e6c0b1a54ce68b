import { mix } from './mix.ts'

/**
 * The slots that refuse connections: this part of each member's slots, so that the shares of members stay as their
 * weights say. They depend on the pool's own table alone, so that none moves with the health of members, and a larger
 * part has the same slots and others.
 *
 * @param base member indexes by slot
 * @param percent above 0, up to 100. At least one slot refuses, and below 100 at least one does not
 */
export function refusingSlots(base: Uint16Array, percent: number): ReadonlySet<number> {
  const all = Math.round((base.length * percent) / 100)
  const count = percent >= 100 ? base.length : Math.min(Math.max(all, 1), base.length - 1)
  const ofMember = Map.groupBy(base.keys(), (slot) => base[slot]!)
  // The place of a slot among those of its member, from 0 to 1: the first ones of all members refuse first.
  const places = [...ofMember.values()].flatMap((slots) =>
    slots.toSorted((a, b) => mix(a) - mix(b) || a - b).map((slot, at) => ({ slot, place: (at + 0.5) / slots.length })),
  )
  places.sort((a, b) => a.place - b.place || mix(a.slot) - mix(b.slot) || a.slot - b.slot)
  return new Set(places.slice(0, count).map(({ slot }) => slot))
}
