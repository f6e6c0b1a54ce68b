/**
 * Control loops over the model: planning, status, node liveness, clearing up.
 *
 * Each reads the model's view and keeps what it knows in memory; placements alone are written, by the plan controller,
 * before what follows from them is published. It never talks to a node: the agent link streams what is published here
 * and hands reports in.
 */
export { type Liveness, type LivenessOptions, NodeLiveness } from './node-liveness.ts'
export { NodeStateTable } from './node-state-table.ts'
export { PlanController, type PlanControllerOptions } from './plan-controller.ts'
export { Rebalancer, type RebalancerOptions } from './rebalancer.ts'
export type { ShardTakeover } from './shard-table.ts'
export { StatusController, type StatusControllerOptions } from './status-controller.ts'
export { Sweeper, type SweeperOptions } from './sweeper.ts'
