import type { NodeReport, ShardReport } from '@spout/model'
import type { NodeView } from './node-view.ts'

/**
 * The reported shards, or null if they did not change. A restarted agent that is in sync and reported none has none.
 */
export function newShards(node: NodeView, report: NodeReport): readonly ShardReport[] | null {
  const reported = report.shards ?? (node.staleAnnouncer && report.inSync ? [] : null)
  return reported !== null && JSON.stringify(reported) !== JSON.stringify(node.shards) ? reported : null
}

/**
 * Merges the report on the node itself. What a restarted agent has not reported when it is in sync does not exist any
 * more.
 * @param shards the result of `newShards`
 */
export function mergeAnnouncer(node: NodeView, report: NodeReport, shards: readonly ShardReport[] | null): void {
  const over = node.staleAnnouncer && report.inSync
  if (shards !== null) node.shards = shards
  if (report.bgpSessions !== undefined) node.bgpSessions = report.bgpSessions
  else if (over) node.bgpSessions = []
  if (report.flows !== undefined) node.flows = report.flows
  else if (over) node.flows = null
  if (report.departure !== undefined) node.departure = report.departure
  else if (over) node.departure = null
  if (report.addressConflicts !== undefined) node.addressConflicts = report.addressConflicts
  else if (over) node.addressConflicts = []
  if (report.sights !== undefined) node.sights = report.sights
  else if (over) node.sights = []
  if (report.overShares !== undefined) node.overShares = report.overShares
  else if (over) node.overShares = []
  if (report.logTroubles !== undefined) node.logTroubles = report.logTroubles
  else if (over) node.logTroubles = []
  if (report.version !== undefined) node.version = report.version
  if (report.fabricAddress !== undefined) {
    node.fabricAddress = report.fabricAddress
    node.lacksFabricAddress = report.fabricAddress === null
  }
  if (over) node.staleAnnouncer = false
  else if (report.shards !== undefined && report.bgpSessions !== undefined) node.staleAnnouncer = false
}
