/**
 * Control loops over the model: planning, status, node liveness, adoption, clean-up, and who leads them. Each has a folder; `tools/checks/rooms.ts`
 * lists the folders in the order in which they may import.
 *
 * Each loop reads the model's view and keeps its state in memory. The plan controller stores placements before it
 * publishes anything that depends on them. No loop talks to a node: the agent link streams the published node states to
 * the agents, and delivers their reports.
 */

export { Adopter, type AdopterOptions } from './adoption/adopter.ts'
export { Sweeper, type SweeperOptions } from './clean-up/sweeper.ts'
export { DnsPublisher, type DnsPublisherOptions, type DnsZone } from './dns/dns-publisher.ts'
export { DomainProver, type DomainProverOptions } from './domains/domain-prover.ts'
export { CurrentStatus } from './leadership/current-status.ts'
export { holderOf, urlOfHolder } from './leadership/holder.ts'
export { Leadership, SHARED_LEASE } from './leadership/leadership.ts'
export { type Liveness, type LivenessOptions, NodeLiveness } from './liveness/node-liveness.ts'
export { NodeStateTable } from './node-states/node-state-table.ts'
export { PlanController, type PlanControllerOptions } from './planning/plan-controller.ts'
export { Rebalancer, type RebalancerOptions } from './shards/rebalancer.ts'
export type { ShardTakeover } from './shards/shard-table.ts'
export { StatusController, type StatusControllerOptions } from './status/status-controller.ts'
