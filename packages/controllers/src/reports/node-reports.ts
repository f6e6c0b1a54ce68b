import { isDeepStrictEqual } from 'node:util'
import type { EntryReport, MemberHealth, NodeReport } from '@spout/model'
import { changedShares, changedTroubles } from './changed-reports.ts'
import { mergeEntries } from './merge-entries.ts'
import { mergeMembers } from './merge-members.ts'
import { mergeNode } from './merge-node.ts'
import { comparableText, localText, type NodeView, newNode, SELF_FIELDS } from './node-view.ts'
import { type AnnouncedDifference, IGNORED, type ReportDifference } from './report-difference.ts'

/** The reports of all nodes, merged per node. The last report of a silent node is kept. */
export class NodeReports {
  readonly #nodes = new Map<string, NodeView>()

  entry(nodeId: string, key: string): EntryReport | null {
    return this.#nodes.get(nodeId)?.entries.get(key) ?? null
  }

  /** The node's reports of its entries. */
  entries(nodeId: string): Iterable<EntryReport> {
    return this.#nodes.get(nodeId)?.entries.values() ?? []
  }

  members(nodeId: string, loadBalancerId: string): ReadonlyMap<string, MemberHealth> | null {
    return this.#nodes.get(nodeId)?.members.get(loadBalancerId) ?? null
  }

  node(
    nodeId: string,
  ): Pick<
    NodeView,
    | 'inSync'
    | 'features'
    | 'lastReportAt'
    | 'shards'
    | 'bgpSessions'
    | 'flows'
    | 'departure'
    | 'addressConflicts'
    | 'fabricAddress'
    | 'sights'
    | 'overShares'
    | 'logTroubles'
    | 'version'
    | 'local'
    | 'lacksFabricAddress'
  > | null {
    return this.#nodes.get(nodeId) ?? null
  }

  /** Ids of nodes that reported this entry. */
  *reportersOf(key: string): Iterable<string> {
    for (const [nodeId, node] of this.#nodes) if (node.entries.has(key)) yield nodeId
  }

  forget(nodeId: string): void {
    this.#nodes.delete(nodeId)
  }

  /** @param isMember whether the member still exists. Reports of deleted members are dropped from time to time */
  merge(nodeId: string, report: NodeReport, at: string, isMember: (id: string) => boolean): ReportDifference {
    const known = this.#nodes.get(nodeId)
    const sameSession = known?.session === report.session
    if (known !== undefined && sameSession && report.sequence <= known.sequence) return IGNORED
    const node = known ?? newNode()
    if (!sameSession) {
      node.session = report.session
      node.stale = new Set(node.entries.keys())
      for (const field of SELF_FIELDS) node.staleFields.add(field)
    }
    const textBefore = comparableText(node)
    const overBefore = node.overShares
    const troublesBefore = node.logTroubles
    const shardsBefore = node.shards
    const localBefore = node.local
    const shardsAreOld = node.staleFields.has('shards') && report.shards === undefined && !report.inSync
    node.sequence = report.sequence
    node.inSync = report.inSync
    node.features = report.features
    // An agent that knows the field has it in its first report.
    if (!sameSession) node.version = null
    node.lastReportAt = at
    mergeNode(node, report)
    this.#nodes.set(nodeId, node)
    const announced: AnnouncedDifference[] = []
    const keys = mergeEntries(node, report, announced)
    const { loadBalancers, health } = mergeMembers(node, report.members, isMember)
    return {
      // The first report of a session contains everything anyway.
      resend: !sameSession && report.sequence !== 1,
      keys,
      removed: report.removed,
      whole: report.inSync,
      loadBalancers,
      health,
      node: known === undefined || textBefore !== comparableText(node),
      stats: report.stats,
      announced,
      shards: isDeepStrictEqual(shardsBefore, node.shards) ? null : node.shards,
      overShares: changedShares(overBefore, node.overShares),
      shardsAreOld,
      logTroubles: changedTroubles(troublesBefore, node.logTroubles),
      local: localText(localBefore) === localText(node.local) ? NONE_LOCAL : namesOf(localBefore, node.local),
    }
  }
}

const NONE_LOCAL: ReadonlySet<string> = new Set()

const namesOf = (...all: readonly NodeView['local'][]): ReadonlySet<string> =>
  new Set(all.flatMap((local) => local?.map(({ name }) => name) ?? []))
