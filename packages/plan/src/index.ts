/**
 * Pure planning: data in, decisions with reasons out.
 *
 * This package decides which slot a member serves, which address is free, what a quota allows, which node announces,
 * and what each node gets. It does no I/O and reads no clock. An impossible request yields a reason in the result, not
 * an exception.
 */
export { isSelected } from './announcers/bgp/plan-bgp.ts'
export type { GroupNode } from './announcers/group-node.ts'
export type { GroupPlanInput } from './announcers/group-plan-input.ts'
export { canTakeOver } from './announcers/registry.ts'
export { type CarryingGroup, carryingGroup } from './group/carrying-group.ts'
export { type AwaitedNodes, heldBack, KNOWN_WITHIN_MS, unreadyOf } from './group/held-drains.ts'
export { type GroupPlan, planGroup } from './group/plan-group.ts'
export {
  balancedNodes,
  type MoveStep,
  movesEndAtMs,
  moveUnderWay,
  planRebalance,
  rebalanceSteps,
} from './group/rebalance.ts'
export { mayLeaveUntilMs, planShardFailover, withMove } from './group/shard-failover.ts'
export { effectiveDown, effectiveMembers, isPanicking } from './health/effective-members.ts'
export { type HealthOf, servingOf } from './health/serving.ts'
export { compileRoutes, unreachableRoutes } from './http-routes/compile-routes.ts'
export { RouteTables } from './http-routes/route-tables.ts'
export { AddressIndex, type Rest } from './ipam/address-index.ts'
export {
  type AddressSpace,
  nodeSpace,
  poolSpace,
  spaceSize,
  subnetSpace,
} from './ipam/address-space.ts'
export {
  type AddressRequest,
  type Allocation,
  allocateAddress,
  allocateNodeAddress,
  describeFree,
} from './ipam/allocate.ts'
export { NumberRuns } from './ipam/number-runs.ts'
export { poolMap } from './ipam/pool-map.ts'
export { type LocalIds, localLoadBalancer } from './local/local-load-balancer.ts'
export { planLocal } from './local/plan-local.ts'
export { admittedSources } from './node-state/admitted-sources.ts'
export { type Announcing, announcingIn } from './node-state/announcing-in.ts'
export { type KnownPools, knownPools } from './node-state/known-pools.ts'
export type { LoadBalancerPlan, LoadBalancerPlanInput } from './node-state/load-balancer-plan.ts'
export { neededFeatures } from './node-state/needed-features.ts'
export { type KnownNodeRoutes, knownNodeRoutes } from './node-state/node-routes.ts'
export { NO_NETWORK, whyNotPlaced } from './node-state/not-placed.ts'
export { PlacementIndex } from './node-state/placement-index.ts'
export { tunnelGateway } from './node-state/plan-domain.ts'
export { type NetworkUse, planDomains, sharesAddresses } from './node-state/plan-domains.ts'
export { planLoadBalancer } from './node-state/plan-load-balancer.ts'
export { type OwnerInput, planOwner } from './node-state/plan-owner.ts'
export { needsSymmetricPath } from './node-state/symmetric-path.ts'
export { type Owner, type PlacementRequest, type PlannedNode, placeOwner } from './placement/place.ts'
export type { Planned } from './preview/compared.ts'
export { type Carried, drainDifference } from './preview/drain-difference.ts'
export { planDifference } from './preview/plan-difference.ts'
export { proxyDifference } from './preview/proxy-difference.ts'
export { addUsage, mapUsage, NO_USAGE, overQuota, subtractUsage, type Usage, usageOf } from './quota/quota.ts'
export type { Problem, Reason } from './reason.ts'
export { addedMemberProblem } from './resolve/added-members.ts'
export { type CertificateReference, certificatesNamed } from './resolve/certificates-named.ts'
export { directReturnProblems } from './resolve/direct-return.ts'
export { type FoundNetwork, findingNetwork } from './resolve/found-network.ts'
export type { MemberContext } from './resolve/member-network.ts'
export { ReferenceUsers } from './resolve/reference-users.ts'
export {
  childIds,
  documentProblem,
  type Resolution,
  type ResolveContext,
  resolveLoadBalancer,
} from './resolve/resolve.ts'
export { RouteIndex } from './resolve/route-index.ts'
export { editSlots, type SlotAssignment, type SlotMember } from './slots/edit-slots.ts'
export { effectiveSlots } from './slots/effective-slots.ts'
export { decodeSlots, encodeSlots } from './slots/slot-table.ts'
