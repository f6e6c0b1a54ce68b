/**
 * Moves the load balancers of any Octavia to Spout, for `spout import octavia`. Both sides speak the Octavia v2 API, so
 * an object is read from one and created at the other, with its id. The plan is a pure function of both inventories, and
 * objects that exist in Spout are never changed.
 */
export { type ApplyOptions, apply, type Outcome } from './apply.ts'
export type { Destination } from './destination.ts'
export { type Inventory, readInventory } from './inventory.ts'
export { type ImportPlan, planImport, type Side } from './plan.ts'
export { countsText, stepText } from './print.ts'
export { namedBy, readSurroundings, type Surroundings } from './read-surroundings.ts'
export type { Step, Trial } from './step.ts'
