import { mix } from './mix.ts'

/**
 * The slots that refuse connections: the same percentage of each member's slots, so that members' shares still follow
 * their weights. They depend only on the pool's own table: they do not move with the health of members, and a larger
 * percentage adds slots to those of a smaller one.
 *
 * @param base member indexes by slot
 * @param percent above 0, up to 100. At least one slot refuses, and below 100 at least one does not
 */
export function refusingSlots(base: Uint16Array, percent: number): ReadonlySet<number> {
  const all = Math.round((base.length * percent) / 100)
  const count = percent >= 100 ? base.length : Math.min(Math.max(all, 1), base.length - 1)
  const ofMember = Map.groupBy(base.keys(), (slot) => base[slot]!)
  // `place` is the rank of a slot among those of its member, scaled to 0 to 1. Slots refuse in the order of their
  // places.
  const places = [...ofMember.values()].flatMap((slots) =>
    slots.toSorted((a, b) => mix(a) - mix(b) || a - b).map((slot, at) => ({ slot, place: (at + 0.5) / slots.length })),
  )
  places.sort((a, b) => a.place - b.place || mix(a.slot) - mix(b.slot) || a.slot - b.slot)
  return new Set(places.slice(0, count).map(({ slot }) => slot))
}
