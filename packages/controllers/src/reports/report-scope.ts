import type { ChildRef, ModelView } from '@spout/admission/contract'
import {
  domainKey,
  domainOfKey,
  type EntryReport,
  GROUP_KEY,
  type GroupEntry,
  hasShards,
  isLoadBalancerKey,
  type LoadBalancer,
  loadBalancerKey,
  loadBalancerOfKey,
  type MemberHealth,
  type NodeReport,
  type ServiceStats,
} from '@spout/model'
import { OTHER_ROUTES } from '@spout/model/node-report'
import { type Logger, silentLogger } from '@spout/runtime'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { NodeReports } from './node-reports.ts'

export interface ReportScopeOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
  readonly reports: NodeReports
  readonly log?: Logger
}

/** The parts of a report that are checked. */
type Part =
  | 'entries'
  | 'members'
  | 'stats'
  | 'shards'
  | 'bgpSessions'
  | 'flows'
  | 'departure'
  | 'overShares'
  | 'logTroubles'

/**
 * Limit of deleted load balancers that a node may report, for their withdrawals, before this process knows everything
 * that the node was sent.
 */
const MOST_LEFT_OVER = 10_000

const LOAD_BALANCER_KEY = /^lb\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Limits the reports of a node to its own objects: its present entries, and earlier ones until it has reported them as
 * removed. Everything else is dropped, counted, and logged once. So a compromised node can neither change the status of
 * other nodes and tenants, nor fill the memory of this process.
 */
export class ReportScope {
  readonly #options: ReportScopeOptions
  readonly #log: Logger
  /** node id -> how many items were dropped since this process started */
  readonly #ignored = new Map<string, number>()
  /** `<node id> <part>` pairs that were logged. */
  readonly #logged = new Set<string>()
  /** Ids of nodes that have reported everything that they have since this process started. */
  readonly #whole = new Set<string>()
  /** node id -> keys of deleted objects that it reported */
  readonly #leftOver = new Map<string, Set<string>>()

  constructor(options: ReportScopeOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger()
  }

  /** How many items of this node's reports were dropped. */
  ignored(nodeId: string): number {
    return this.#ignored.get(nodeId) ?? 0
  }

  /** The report without items that the node may not report on. */
  within(nodeId: string, report: NodeReport): NodeReport {
    const mayHold = this.#memo((id) => this.#mayHold(nodeId, loadBalancerKey(id)))
    const group = this.#group(nodeId)
    const shards = report.shards && this.#shards(nodeId, report.shards)
    const sessions = report.bgpSessions && this.#sessions(nodeId, group, report.bgpSessions)
    const flows = report.flows == null ? report.flows : this.#flows(nodeId, group, report.flows)
    const departure = report.departure == null ? report.departure : this.#departure(nodeId, group, report.departure)
    const overShares =
      report.overShares &&
      this.#kept(nodeId, 'overShares', report.overShares, (one) =>
        this.#mayHold(nodeId, domainKey(one.domain)) ? one : null,
      )
    const logTroubles =
      report.logTroubles &&
      this.#kept(nodeId, 'logTroubles', report.logTroubles, (one) => (mayHold(one.loadBalancerId) ? one : null))
    return {
      ...report,
      entries: this.#kept(nodeId, 'entries', report.entries, (entry) => this.#entry(nodeId, entry)),
      members: this.#kept(nodeId, 'members', report.members, (one) =>
        this.#isMember(one) && mayHold(one.loadBalancerId) ? one : null,
      ),
      stats: this.#kept(nodeId, 'stats', report.stats, (one) =>
        this.#isListener(one) && mayHold(one.loadBalancerId) ? this.#ofOwnParts(one) : null,
      ),
      ...(shards !== undefined && { shards }),
      ...(sessions !== undefined && { bgpSessions: sessions }),
      ...(flows !== undefined && { flows }),
      ...(departure !== undefined && { departure }),
      ...(overShares !== undefined && { overShares }),
      ...(logTroubles !== undefined && { logTroubles }),
    }
  }

  /**
   * Call when the report was merged. From then on the node may not report on keys that it reported as removed.
   * @param whole whether the node has reported everything that it has
   */
  merged(nodeId: string, { removed }: Pick<NodeReport, 'removed'>, whole: boolean): void {
    for (const key of removed) {
      this.#options.nodeStates.release(nodeId, key)
      this.#leftOver.get(nodeId)?.delete(key)
    }
    if (whole && this.#options.nodeStates.ready()) this.#whole.add(nodeId)
  }

  /** Call when the node was deleted. */
  forget(nodeId: string): void {
    this.#ignored.delete(nodeId)
    this.#whole.delete(nodeId)
    this.#leftOver.delete(nodeId)
    for (const key of this.#logged) if (key.startsWith(`${nodeId} `)) this.#logged.delete(key)
    this.#options.nodeStates.forget(nodeId)
  }

  /** The items that the node may report. @param keep returns the item, a reduced one, or null to drop it */
  #kept<T>(nodeId: string, part: Part, all: readonly T[], keep: (one: T) => T | null): readonly T[] {
    // Nearly every report is kept unchanged.
    const first = all.findIndex((one) => keep(one) !== one)
    if (first < 0) return all
    let ignored = 0
    const kept = all.flatMap((one) => {
      const rest = keep(one)
      if (rest !== one) ignored++
      return rest ?? []
    })
    this.#ignore(nodeId, part, ignored)
    return kept
  }

  #entry(nodeId: string, entry: EntryReport): EntryReport | null {
    const { view, nodeStates, reports } = this.#options
    const { key, announced } = entry
    if (!this.#mayHold(nodeId, key)) return null
    const id = loadBalancerOfKey(key)
    if (id === null || announced.length === 0) return entry
    const given = nodeStates.get(nodeId, key)?.entry
    const known = given?.kind === 'load-balancer' ? given.vips : (view.get('loadBalancer', id)?.value.vips ?? [])
    // An address that the node should no longer announce counts as announced until the node reports otherwise.
    const before = reports.entry(nodeId, key)?.announced ?? []
    const mayAnnounce = (address: string) => before.includes(address) || known.some((vip) => vip.address === address)
    return announced.every(mayAnnounce) ? entry : { ...entry, announced: announced.filter(mayAnnounce) }
  }

  /** Whether the node may have the entry under this key. */
  #mayHold(nodeId: string, key: string): boolean {
    const { nodeStates, reports } = this.#options
    if (nodeStates.get(nodeId, key) !== null || nodeStates.isUnreleased(nodeId, key)) return true
    if (reports.entry(nodeId, key) !== null) return true
    // While this process does not know what the node has, everything is accepted that it could have.
    if (nodeStates.ready() && this.#whole.has(nodeId)) return false
    if (isLoadBalancerKey(key)) return this.#mayHaveHeld(nodeId, key)
    return !nodeStates.ready() && this.#isOwnKey(nodeId, key)
  }

  /** Whether an earlier process may have given the load balancer to the node. */
  #mayHaveHeld(nodeId: string, key: string): boolean {
    const { view } = this.#options
    if (!LOAD_BALANCER_KEY.test(key)) return false
    const loadBalancer = view.get('loadBalancer', loadBalancerOfKey(key)!)?.value
    if (loadBalancer !== undefined) return this.#isOfGroup(nodeId, loadBalancer)
    return this.#countLeftOver(nodeId, key)
  }

  #isOfGroup(nodeId: string, { nodeGroupId }: Pick<LoadBalancer, 'nodeGroupId'>): boolean {
    const { view } = this.#options
    // Null is the default group, which may have been another group at that time.
    return nodeGroupId === null || view.get('node', nodeId)?.value.nodeGroupId === nodeGroupId
  }

  #isOwnKey(nodeId: string, key: string): boolean {
    return key === GROUP_KEY || (domainOfKey(key) !== null && this.#countLeftOver(nodeId, key))
  }

  #countLeftOver(nodeId: string, key: string): boolean {
    const known = this.#leftOver.get(nodeId) ?? new Set()
    if (known.has(key)) return true
    if (known.size >= MOST_LEFT_OVER) return false
    this.#leftOver.set(nodeId, known.add(key))
    return true
  }

  #isMember({ loadBalancerId, poolId, memberId }: MemberHealth): boolean {
    const child = this.#options.view.child(memberId)
    return child?.kind === 'member' && child.loadBalancerId === loadBalancerId && child.poolId === poolId
  }

  #isListener({ loadBalancerId, listenerId }: ServiceStats): boolean {
    const child = this.#options.view.child(listenerId)
    return child?.kind === 'listener' && child.loadBalancerId === loadBalancerId
  }

  /** The statistics without pools and routes that are not the load balancer's. */
  #ofOwnParts(stats: ServiceStats): ServiceStats {
    const { http, loadBalancerId } = stats
    if (http?.parts === undefined) return stats
    const isOwn = (kind: ChildRef['kind'], id: string): boolean => {
      const child = this.#options.view.child(id)
      return child?.kind === kind && child.loadBalancerId === loadBalancerId
    }
    const pools = onlyKeys(http.parts.pools, (id) => isOwn('pool', id))
    const routes = onlyKeys(http.parts.routes, (id) => id === OTHER_ROUTES || isOwn('route', id))
    if (pools === http.parts.pools && routes === http.parts.routes) return stats
    return { ...stats, http: { ...http, parts: { pools, routes } } }
  }

  #shards(nodeId: string, shards: NonNullable<NodeReport['shards']>): NodeReport['shards'] {
    const { view } = this.#options
    const group = view.get('nodeGroup', view.get('node', nodeId)?.value.nodeGroupId ?? '')?.value
    const most = group === undefined || !hasShards(group) ? 0 : group.vrrp.shards
    return this.#kept(nodeId, 'shards', shards, (shard) => (shard.number <= most ? shard : null))
  }

  #sessions(
    nodeId: string,
    group: GroupEntry | null,
    sessions: NonNullable<NodeReport['bgpSessions']>,
  ): NodeReport['bgpSessions'] {
    const peers = new Set(group?.bgp?.peers.map(({ id }) => id))
    const { view } = this.#options
    return this.#kept(nodeId, 'bgpSessions', sessions, (session) =>
      peers.has(session.peerId) || (group === null && view.get('bgpPeer', session.peerId) !== null) ? session : null,
    )
  }

  #flows(nodeId: string, group: GroupEntry | null, flows: NonNullable<NodeReport['flows']>): NodeReport['flows'] {
    const peers = group?.flows?.peers
    if (peers === undefined) return flows
    const silentPeers = this.#kept(nodeId, 'flows', flows.silentPeers, (peer) =>
      peers.includes(peer.address) ? peer : null,
    )
    return silentPeers === flows.silentPeers ? flows : { ...flows, silentPeers }
  }

  #departure(
    nodeId: string,
    group: GroupEntry | null,
    departure: NonNullable<NodeReport['departure']>,
  ): NodeReport['departure'] {
    if (group === null || group.secondChance !== undefined) return departure
    this.#ignore(nodeId, 'departure', 1)
    return null
  }

  #group(nodeId: string): GroupEntry | null {
    const entry = this.#options.nodeStates.get(nodeId, GROUP_KEY)?.entry
    return entry?.kind === 'group' ? entry : null
  }

  #memo(ask: (id: string) => boolean): (id: string) => boolean {
    const answers = new Map<string, boolean>()
    return (id) => {
      const known = answers.get(id)
      if (known !== undefined) return known
      const answer = ask(id)
      answers.set(id, answer)
      return answer
    }
  }

  #ignore(nodeId: string, part: Part, count: number): void {
    this.#ignored.set(nodeId, this.ignored(nodeId) + count)
    const key = `${nodeId} ${part}`
    if (this.#logged.has(key)) return
    this.#logged.add(key)
    // A single report may cross the change that deleted its object. Many mean a faulty or compromised node.
    this.#log.info(
      { event: 'report-out-of-scope', nodeId, part, count },
      'a node reported on objects that are not its own; these reports were dropped',
    )
  }
}

/** The same object if all are kept. */
function onlyKeys<T>(
  all: Readonly<Record<string, T>>,
  isWanted: (key: string) => boolean,
): Readonly<Record<string, T>> {
  const kept = Object.entries(all).filter(([key]) => isWanted(key))
  return kept.length === Object.keys(all).length ? all : Object.fromEntries(kept)
}
