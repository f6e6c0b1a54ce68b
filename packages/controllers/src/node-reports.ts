import type { EntryReport, MemberHealth, NodeReport, ServiceStats } from '@spout/model'

/** What one report changed of what was known. */
export interface ReportDifference {
  /** The session was not known here: the agent must tell everything again. */
  readonly resend: boolean
  /** Keys of entries whose report differs from before, or went. */
  readonly keys: ReadonlySet<string>
  /** Load balancers with a member whose health or its reason differs. */
  readonly loadBalancers: ReadonlySet<string>
  /** `inSync` or `features` differ. */
  readonly node: boolean
  readonly stats: readonly ServiceStats[]
}

interface NodeView {
  session: string
  sequence: number
  inSync: boolean
  features: readonly string[]
  lastReportAt: string
  readonly entries: Map<string, EntryReport>
  /** Told in an earlier session and not yet in this one: dropped once the node is in sync. */
  stale: Set<string>
  /** load balancer id -> member id */
  readonly members: Map<string, Map<string, MemberHealth>>
}

const IGNORED: ReportDifference = { resend: false, keys: new Set(), loadBalancers: new Set(), node: false, stats: [] }

/** All that nodes told, merged by node. A silent node keeps what it last said. */
export class NodeReports {
  readonly #nodes = new Map<string, NodeView>()

  entry(nodeId: string, key: string): EntryReport | null {
    return this.#nodes.get(nodeId)?.entries.get(key) ?? null
  }

  members(nodeId: string, loadBalancerId: string): ReadonlyMap<string, MemberHealth> | null {
    return this.#nodes.get(nodeId)?.members.get(loadBalancerId) ?? null
  }

  node(nodeId: string): Pick<NodeView, 'inSync' | 'features' | 'lastReportAt'> | null {
    return this.#nodes.get(nodeId) ?? null
  }

  /** Ids of nodes that said something of this entry. */
  *reportersOf(key: string): Iterable<string> {
    for (const [nodeId, node] of this.#nodes) if (node.entries.has(key)) yield nodeId
  }

  forget(nodeId: string): void {
    this.#nodes.delete(nodeId)
  }

  merge(nodeId: string, report: NodeReport, at: string): ReportDifference {
    const known = this.#nodes.get(nodeId)
    const sameSession = known?.session === report.session
    if (known !== undefined && sameSession && report.sequence <= known.sequence) return IGNORED
    const node = known ?? newNode()
    if (!sameSession) {
      node.session = report.session
      node.stale = new Set(node.entries.keys())
    }
    const nodeDiffers = node.inSync !== report.inSync || node.features.join() !== report.features.join()
    node.sequence = report.sequence
    node.inSync = report.inSync
    node.features = report.features
    node.lastReportAt = at
    this.#nodes.set(nodeId, node)
    return {
      // The first report of a session begins to tell everything anyway.
      resend: !sameSession && report.sequence !== 1,
      keys: mergeEntries(node, report),
      loadBalancers: mergeMembers(node, report.members),
      node: nodeDiffers || known === undefined,
      stats: report.stats,
    }
  }
}

const newNode = (): NodeView => ({
  session: '',
  sequence: 0,
  inSync: false,
  features: [],
  lastReportAt: '',
  entries: new Map(),
  stale: new Set(),
  members: new Map(),
})

function mergeEntries(node: NodeView, report: NodeReport): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const entry of report.entries) {
    node.stale.delete(entry.key)
    if (sameEntry(node.entries.get(entry.key), entry)) continue
    node.entries.set(entry.key, entry)
    keys.add(entry.key)
  }
  const gone = report.inSync && node.stale.size > 0 ? [...report.removed, ...node.stale] : report.removed
  if (report.inSync) node.stale.clear()
  for (const key of gone) {
    node.members.delete(key.replace(/^lb\//, ''))
    if (node.entries.delete(key)) keys.add(key)
  }
  return keys
}

function mergeMembers(node: NodeView, members: readonly MemberHealth[]): ReadonlySet<string> {
  const changed = new Set<string>()
  for (const member of members) {
    const known = node.members.get(member.loadBalancerId) ?? new Map<string, MemberHealth>()
    node.members.set(member.loadBalancerId, known)
    const before = known.get(member.memberId)
    // A restarted agent knows the health but not since when.
    known.set(member.memberId, before?.health === member.health ? { ...member, since: before.since } : member)
    if (before?.health !== member.health || before.reason !== member.reason) changed.add(member.loadBalancerId)
  }
  return changed
}

const sameEntry = (a: EntryReport | undefined, b: EntryReport): boolean =>
  a !== undefined &&
  a.hash === b.hash &&
  a.state === b.state &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.announced.join() === b.announced.join()
