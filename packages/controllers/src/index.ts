/**
 * Control loops over the model: planning, status, node liveness, clean-up. Each has a folder; `tools/checks/rooms.ts`
 * lists the folders in the order in which they may import.
 *
 * Each reads the model's view and keeps its state in memory. Only placements are written, by the plan controller,
 * before anything that follows from them is published. No loop talks to a node: the agent link streams what is
 * published here and delivers reports.
 */

export { Sweeper, type SweeperOptions } from './clean-up/sweeper.ts'
export { DnsPublisher, type DnsPublisherOptions, type DnsZone } from './dns/dns-publisher.ts'
export { DomainProver, type DomainProverOptions } from './domains/domain-prover.ts'
export { type Liveness, type LivenessOptions, NodeLiveness } from './liveness/node-liveness.ts'
export { NodeStateTable } from './node-states/node-state-table.ts'
export { PlanController, type PlanControllerOptions } from './planning/plan-controller.ts'
export { Rebalancer, type RebalancerOptions } from './shards/rebalancer.ts'
export type { ShardTakeover } from './shards/shard-table.ts'
export { StatusController, type StatusControllerOptions } from './status/status-controller.ts'
