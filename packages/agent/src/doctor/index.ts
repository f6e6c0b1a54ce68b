/** What is wrong with a node, looked for on the node itself: readings of the machine, and pure checks of them. */
export { NODE_CHECKS, nodeFindings } from './node-checks.ts'
export type { NodePlace } from './place.ts'
export { savedGroup } from './saved-group.ts'
