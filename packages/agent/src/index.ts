/**
 * One node's side of the agent link: subscribe, reconcile, report.
 *
 * The agent applies the entries that the control plane wants to domains, drivers and announcers, in an order in which
 * no address is announced before it is forwarded. It keeps the last good state on disk, and goes on without the control
 * plane. What a node carries is decided by the planner alone. The agent knows neither Octavia, nor Kubernetes, nor the
 * store.
 */
export type { AccessLogCounts, AccessLogsOptions } from './access-logs.ts'
export * from './domains.ts'
export type { FabricVerdict, GroupFabric, NamedFabric } from './fabric-gate.ts'
export type { AgentFigures } from './figures.ts'
export type { LinkServers } from './follow-link.ts'
export type { LocalNodeState } from './local-entries.ts'
export * from './node-agent.ts'
export { savedAnnouncements } from './saved-announcements.ts'
