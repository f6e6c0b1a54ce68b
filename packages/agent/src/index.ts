/**
 * One node's side of the agent link: subscribe, reconcile, report.
 *
 * It brings domains, drivers and the announcer to what the control plane wants, in an order that never announces what
 * is not forwarded, keeps the last good state on disk, and goes on without the control plane. It decides nothing: what
 * a node carries is the planner's word. It knows no Octavia, no Kubernetes and no store.
 */
export type { AccessLogCounts, AccessLogsOptions } from './access-logs.ts'
export * from './domains.ts'
export type { AgentFigures } from './figures.ts'
export * from './node-agent.ts'
