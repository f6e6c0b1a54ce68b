import type { ProxySlots } from '../rendering/content.ts'
import type { HaproxyOptions } from '../sections/options.ts'
import { BACKEND_STOCK, backendShapeKey, FRONTEND_STOCK, frontendShapeKey, type Stock } from '../sections/shape.ts'
import { type Slot, SlotTable } from '../sections/slot-table.ts'
import type { SavedState } from './state-file.ts'

type SavedSlots = Pick<SavedState, 'frontends' | 'backends'>

/** The slots of a domain's first process. */
export const initialSlots = (): SavedSlots => ({ frontends: stocked(FRONTEND_STOCK), backends: stocked(BACKEND_STOCK) })

export const slotTables = (saved: SavedSlots, options: HaproxyOptions): ProxySlots => ({
  frontends: new SlotTable({ keyOf: kept(frontendShapeKey), most: options.mostFrontends, slots: saved.frontends }),
  backends: new SlotTable({ keyOf: kept(backendShapeKey), most: options.mostBackends, slots: saved.backends }),
})

/** A change of an entry names the shapes of all its pools, and most are the same objects as before. */
function kept<Shape extends object>(keyOf: (shape: Shape) => string): (shape: Shape) => string {
  const known = new WeakMap<Shape, string>()
  return (shape) => {
    const key = known.get(shape) ?? keyOf(shape)
    known.set(shape, key)
    return key
  }
}

/** Increases when the tables have a slot that the running process lacks. */
export const slotsRevision = ({ frontends, backends }: ProxySlots): number => frontends.revision + backends.revision

/** Adds slots of shapes that are nearly used up. */
export function growScarce({ frontends, backends }: ProxySlots): void {
  for (const shape of frontends.scarce()) frontends.grow(shape)
  for (const shape of backends.scarce()) backends.grow(shape)
}

/** Removes what a new process need not have: cooling slots (it has no old connections) and unused shapes. */
export function tidySlots({ frontends, backends }: ProxySlots): void {
  for (const { id } of frontends.cooling()) frontends.reclaim(id)
  for (const { id } of backends.cooling()) backends.reclaim(id)
  frontends.trim(FRONTEND_STOCK.map(({ shape }) => shape))
  backends.trim(BACKEND_STOCK.map(({ shape }) => shape))
}

const stocked = <Shape>(stock: readonly Stock<Shape>[]): readonly Slot<Shape>[] =>
  stock
    .flatMap(({ shape, count }) => Array.from({ length: count }, () => shape))
    .map((shape, id) => ({ id, shape, owner: null, cooling: false }))
