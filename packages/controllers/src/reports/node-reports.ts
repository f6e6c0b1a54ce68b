import type {
  AddressConflictReport,
  BgpSessionReport,
  EntryReport,
  FlowsReport,
  LogTroubleReport,
  MemberHealth,
  NodeReport,
  OverShareReport,
  ProxyDrainReport,
  ServiceStats,
  ShardReport,
  Sight,
} from '@spout/model'

/** The changes by one report. */
export interface ReportDifference {
  /** The session was unknown: the agent must report everything again. */
  readonly resend: boolean
  /** Keys of entries whose report changed or was removed. */
  readonly keys: ReadonlySet<string>
  /** Keys that the node reported as removed, whether or not it ever reported having them. */
  readonly removed: readonly string[]
  /** It has reported everything that it has. */
  readonly whole: boolean
  /** Load balancers with a member whose health or reason changed. */
  readonly loadBalancers: ReadonlySet<string>
  /** The report on the node itself changed. */
  readonly node: boolean
  readonly stats: readonly ServiceStats[]
  /** Entries whose announced addresses changed. */
  readonly announced: readonly AnnouncedDifference[]
  /** All shards of the node if it reported them; null if nothing is new. */
  readonly shards: readonly ShardReport[] | null
  /** Domains that have gone over or back under their share with this report. */
  readonly overShares: ReadonlySet<number>
  /** The known state of its shards is from an earlier session of the agent, and this report does not confirm it. */
  readonly shardsAreOld: boolean
  /** Load balancers with an access log that reaches no receiver, or does again, with this report. */
  readonly logTroubles: ReadonlySet<string>
}

export interface AnnouncedDifference {
  readonly key: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

interface NodeView {
  session: string
  sequence: number
  inSync: boolean
  features: readonly string[]
  lastReportAt: string
  shards: readonly ShardReport[]
  bgpSessions: readonly BgpSessionReport[]
  flows: FlowsReport | null
  departure: ProxyDrainReport | null
  addressConflicts: readonly AddressConflictReport[]
  fabricAddress: string | null
  sights: readonly Sight[]
  overShares: readonly OverShareReport[]
  logTroubles: readonly LogTroubleReport[]
  /** Whether the node reported that it has none. */
  lacksFabricAddress: boolean
  /** Its shards and sessions are from an earlier session of the agent. */
  staleAnnouncer: boolean
  readonly entries: Map<string, EntryReport>
  /** Keys reported in an earlier session and not yet in this one. They are dropped once the node is in sync. */
  stale: Set<string>
  /** load balancer id -> member id */
  readonly members: Map<string, Map<string, MemberHealth>>
}

const IGNORED: ReportDifference = {
  resend: false,
  keys: new Set(),
  removed: [],
  whole: false,
  loadBalancers: new Set(),
  node: false,
  stats: [],
  announced: [],
  shards: null,
  overShares: new Set(),
  shardsAreOld: true,
  logTroubles: new Set(),
}

/** All reports, merged by node. A silent node keeps its last report. */
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

  /** @param isMember whether the member still exists; reports of others are dropped in time */
  merge(nodeId: string, report: NodeReport, at: string, isMember: (id: string) => boolean): ReportDifference {
    const known = this.#nodes.get(nodeId)
    const sameSession = known?.session === report.session
    if (known !== undefined && sameSession && report.sequence <= known.sequence) return IGNORED
    const node = known ?? newNode()
    if (!sameSession) {
      node.session = report.session
      node.stale = new Set(node.entries.keys())
      node.staleAnnouncer = true
    }
    const textBefore = comparableText(node)
    const overBefore = node.overShares
    const troublesBefore = node.logTroubles
    const shards = newShards(node, report)
    const shardsAreOld = node.staleAnnouncer && report.shards === undefined && !report.inSync
    node.sequence = report.sequence
    node.inSync = report.inSync
    node.features = report.features
    node.lastReportAt = at
    mergeAnnouncer(node, report, shards)
    this.#nodes.set(nodeId, node)
    const announced: AnnouncedDifference[] = []
    const keys = mergeEntries(node, report, announced)
    return {
      // The first report of a session starts with everything anyway.
      resend: !sameSession && report.sequence !== 1,
      keys,
      removed: report.removed,
      whole: report.inSync,
      loadBalancers: mergeMembers(node, report.members, isMember),
      node: known === undefined || textBefore !== comparableText(node),
      stats: report.stats,
      announced,
      shards,
      overShares: differing(overBefore, node.overShares),
      shardsAreOld,
      logTroubles: differingTroubles(troublesBefore, node.logTroubles),
    }
  }
}

/** From this many reported members of a load balancer, those of deleted members are dropped. */
const PRUNED_FROM = 64

const newNode = (): NodeView => ({
  session: '',
  sequence: 0,
  inSync: false,
  features: [],
  lastReportAt: '',
  shards: [],
  bgpSessions: [],
  flows: null,
  departure: null,
  addressConflicts: [],
  fabricAddress: null,
  sights: [],
  overShares: [],
  logTroubles: [],
  lacksFabricAddress: false,
  staleAnnouncer: false,
  entries: new Map(),
  stale: new Set(),
  members: new Map(),
})

/** The node's report on itself, as a text to compare. Counters are left out, because they change all the time. */
const comparableText = ({ flows, ...view }: NodeView): string =>
  JSON.stringify([
    ...[
      view.inSync,
      view.features,
      view.shards,
      view.bgpSessions,
      view.addressConflicts,
      view.fabricAddress,
      view.lacksFabricAddress,
      view.sights,
    ],
    ...[flows?.silentPeers, flows?.lastMiss, flows?.error, view.departure],
  ])

/** The reported shards if they are new. A restarted agent that is in sync and reported none has none. */
function newShards(node: NodeView, report: NodeReport): readonly ShardReport[] | null {
  const reported = report.shards ?? (node.staleAnnouncer && report.inSync ? [] : null)
  return reported !== null && JSON.stringify(reported) !== JSON.stringify(node.shards) ? reported : null
}

/** Domains whose report changed. */
function differing(before: readonly OverShareReport[], after: readonly OverShareReport[]): ReadonlySet<number> {
  const textOf = ({ domain, share, limit, refused }: OverShareReport) => `${domain} ${share} ${limit} ${refused}`
  const [known, reported] = [new Set(before.map(textOf)), new Set(after.map(textOf))]
  const changed = [
    ...before.filter((one) => !reported.has(textOf(one))),
    ...after.filter((one) => !known.has(textOf(one))),
  ]
  return new Set(changed.map(({ domain }) => domain))
}

/** Load balancers whose report changed. */
function differingTroubles(
  before: readonly LogTroubleReport[],
  after: readonly LogTroubleReport[],
): ReadonlySet<string> {
  if (before.length + after.length === 0) return NO_TROUBLE
  const textOf = ({ listenerId, reason }: LogTroubleReport) => `${listenerId} ${reason}`
  const [known, reported] = [new Set(before.map(textOf)), new Set(after.map(textOf))]
  const changed = [
    ...before.filter((one) => !reported.has(textOf(one))),
    ...after.filter((one) => !known.has(textOf(one))),
  ]
  return new Set(changed.map(({ loadBalancerId }) => loadBalancerId))
}
const NO_TROUBLE: ReadonlySet<string> = new Set()

function mergeAnnouncer(node: NodeView, report: NodeReport, shards: readonly ShardReport[] | null): void {
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
  if (report.fabricAddress !== undefined) {
    node.fabricAddress = report.fabricAddress
    node.lacksFabricAddress = report.fabricAddress === null
  }
  if (over) node.staleAnnouncer = false
  else if (report.shards !== undefined && report.bgpSessions !== undefined) node.staleAnnouncer = false
}

function mergeEntries(node: NodeView, report: NodeReport, announced: AnnouncedDifference[]): ReadonlySet<string> {
  const keys = new Set<string>()
  const note = (key: string, before: readonly string[], after: readonly string[]) => {
    if (before.join() !== after.join()) announced.push({ key, before, after })
  }
  for (const entry of report.entries) {
    node.stale.delete(entry.key)
    const before = node.entries.get(entry.key)
    if (sameEntry(before, entry)) continue
    node.entries.set(entry.key, entry)
    note(entry.key, before?.announced ?? [], entry.announced)
    keys.add(entry.key)
  }
  const gone = report.inSync && node.stale.size > 0 ? [...report.removed, ...node.stale] : report.removed
  if (report.inSync) node.stale.clear()
  for (const key of gone) {
    node.members.delete(key.replace(/^lb\//, ''))
    const before = node.entries.get(key)
    if (before === undefined) continue
    node.entries.delete(key)
    note(key, before.announced, [])
    keys.add(key)
  }
  return keys
}

function mergeMembers(
  node: NodeView,
  members: readonly MemberHealth[],
  isMember: (id: string) => boolean,
): ReadonlySet<string> {
  const changed = new Set<string>()
  for (const member of members) {
    const known = node.members.get(member.loadBalancerId) ?? new Map<string, MemberHealth>()
    node.members.set(member.loadBalancerId, known)
    const before = known.get(member.memberId)
    // A restarted agent knows the health but not since when.
    known.set(member.memberId, before?.health === member.health ? { ...member, since: before.since } : member)
    if (before?.health !== member.health || before.reason !== member.reason) changed.add(member.loadBalancerId)
    // Pruned at each power of two, which keeps it cheap: members come and go as long as their load balancer exists.
    if (before === undefined && known.size >= PRUNED_FROM && (known.size & (known.size - 1)) === 0)
      for (const id of known.keys()) if (!isMember(id)) known.delete(id)
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
