import type { ModelView, ReportSink } from '@spout/admission'
import {
  type LoadBalancer,
  type LoadBalancerStatus,
  type MemberHealth,
  type NodeConfirmation,
  type NodeConnection,
  type NodeReport,
  type NodeStatus,
  type OwnershipReader,
  type ServiceStats,
  type ShardStatus,
  type StatusReader,
  UNSEEN_NODE,
  type VipMove,
} from '@spout/model'
import type { Clock, Logger } from '@spout/runtime'
import type { NodeLiveness } from './node-liveness.ts'
import { type AnnouncedDifference, NodeReports } from './node-reports.ts'
import type { NodeStateTable } from './node-state-table.ts'
import { MOVE_GRACE_MS, ShardTable, type ShardTakeover } from './shard-table.ts'
import { StatsSum } from './stats-sum.ts'
import { type Carrier, followsShard, generationOf, isRouted, type Verdict, verdictOn } from './verdict.ts'
import { VipLog } from './vip-log.ts'

export interface StatusControllerOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  readonly clock: Clock
  readonly log?: Logger
}

type Listener = (kind: 'loadBalancer' | 'node', id: string) => void

interface Confirmed {
  readonly generation: number
  readonly at: string
}

/** Load balancers looked at without letting anything else run; a node with 30,000 of them must not hold up reports. */
const REVIEW_SLICE = 500

/**
 * What is known of objects now, and who announces them, worked out from placements and node reports. Soft: a restart of the control plane
 * forgets it and the nodes tell it again; a node that falls silent keeps what it last said.
 *
 * A member's health is the word of the node that carries the load balancer, for it sends the traffic; while that node
 * has no word (the load balancer has just moved) it is the worst that the others say.
 */
export class StatusController implements StatusReader, OwnershipReader, ReportSink {
  readonly #options: StatusControllerOptions
  readonly #reports = new NodeReports()
  readonly #shards: ShardTable
  readonly #vipLog = new VipLog()
  readonly #confirmed = new Map<string, Confirmed>()
  /** load balancer id -> listener id */
  readonly #stats = new Map<string, Map<string, StatsSum>>()
  /** What listeners were last told of, as one text. */
  readonly #meanings = new Map<string, string>()
  readonly #due = new Set<string>()
  readonly #listeners = new Set<Listener>()
  readonly #unsubscribe: readonly (() => void)[]
  #reviewing: NodeJS.Immediate | null = null

  constructor(options: StatusControllerOptions) {
    this.#options = options
    const { view, nodeStates, liveness } = options
    this.#shards = new ShardTable(options)
    this.#unsubscribe = [
      view.onChange((changed) => {
        for (const { kind, id } of changed) {
          if (kind === 'loadBalancer' || kind === 'placement') this.#due.add(id)
          if (kind === 'node') this.#nodeChanged(id)
        }
        this.#review()
      }),
      nodeStates.onKeyChange((key) => this.#reviewKeys([key])),
      liveness.onChange((nodeId) => this.#livenessChanged(nodeId)),
      this.#shards.onChange((groupId, number) => this.#shardChanged(groupId, number)),
    ]
  }

  report(nodeId: string, report: NodeReport): { readonly resend: boolean } {
    const { clock, liveness } = this.#options
    liveness.heardOf(nodeId)
    const at = clock.now().toISOString()
    const difference = this.#reports.merge(nodeId, report, at)
    this.#shards.report(nodeId, difference.shards)
    for (const announced of difference.announced) this.#noteAnnounced(nodeId, announced, at)
    for (const stats of difference.stats) this.#statsOf(stats).report(nodeId, stats)
    for (const id of difference.loadBalancers) this.#tell('loadBalancer', id)
    if (difference.node) this.#tell('node', nodeId)
    this.#reviewKeys(difference.keys)
    return { resend: difference.resend }
  }

  loadBalancer(id: string): LoadBalancerStatus {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    const { confirmedBy: _, ...verdict } = loadBalancer === undefined ? UNKNOWN : this.#verdict(loadBalancer)
    const confirmed = this.#confirmed.get(id)
    const ownerNodeId = this.#ownerOf(id)
    return {
      ...verdict,
      confirmedGeneration: confirmed?.generation ?? 0,
      confirmedAt: confirmed?.at ?? null,
      ownerNodeId,
      nodes: this.#confirmations(id),
      members: loadBalancer === undefined ? new Map() : this.#members(loadBalancer, ownerNodeId),
      stats: this.#sums(id),
    }
  }

  node(id: string): NodeStatus {
    const said = this.#reports.node(id)
    const problems = [...this.#options.nodeStates.problems(id), ...this.#refusedByNode(id)]
    const connection = this.#connection(id)
    if (said === null) return { nodeId: id, connection, ...UNSEEN_NODE, problems }
    const { inSync, lastReportAt, features, shards, bgpSessions, fabricAddress, announced } = said
    return {
      nodeId: id,
      connection,
      inSync,
      lastReportAt,
      features,
      shards,
      bgpSessions,
      fabricAddress,
      announced,
      problems,
    }
  }

  /** What the node itself refused of its part in the group: an announcer's words. */
  #refusedByNode(id: string): NodeStatus['problems'] {
    const said = this.#reports.entry(id, 'group')
    if (said === null || said.state === 'programmed') return []
    return [{ code: said.reason ?? 'GroupRefused', message: said.message ?? '' }]
  }

  shards(nodeGroupId: string): readonly ShardStatus[] {
    return [...this.#shards.shards(nodeGroupId)]
  }

  shard(nodeGroupId: string, number: number): ShardStatus | null {
    return this.#shards.shard(nodeGroupId, number)
  }

  history(loadBalancerId: string, address: string): readonly VipMove[] {
    const shard = this.#options.view.get('placement', loadBalancerId)?.value.shard ?? null
    const own = this.#vipLog.moves(loadBalancerId, address)
    if (shard === null || this.#isRouted(loadBalancerId, address)) return own
    return [...own, ...this.#shards.moves(shard.nodeGroupId, shard.number)]
  }

  /** Calls back with each takeover of a shard whose owner before was known. */
  onTakeover(listener: (takeover: ShardTakeover) => void): () => void {
    return this.#shards.onTakeover(listener)
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#shards.close()
    if (this.#reviewing !== null) clearImmediate(this.#reviewing)
  }

  #verdict(loadBalancer: LoadBalancer): Verdict {
    const { view } = this.#options
    const placement = view.get('placement', loadBalancer.id)?.value ?? null
    const place = placement?.shard ?? null
    const changedForMs = place === null ? null : this.#shards.changedForMs(place.nodeGroupId, place.number)
    return verdictOn({
      loadBalancer,
      placement,
      carriers: this.#carriers(loadBalancer.id, place === null ? (placement?.ownerNodeId ?? null) : 'all'),
      shard: place === null ? null : this.shard(place.nodeGroupId, place.number),
      groupName: place === null ? '' : (view.get('nodeGroup', place.nodeGroupId)?.value.name ?? place.nodeGroupId),
      moving:
        changedForMs !== null &&
        changedForMs < MOVE_GRACE_MS &&
        this.#confirmed.get(loadBalancer.id)?.generation === loadBalancer.generation,
    })
  }

  /** The nodes whose word counts, in order of their ids; null for none. */
  #carriers(id: string, who: string | 'all' | null): readonly Carrier[] {
    if (who === null) return []
    const { nodeStates, liveness } = this.#options
    const key = `lb/${id}`
    const nodeIds = who === 'all' ? [...nodeStates.holders(key)].sort() : [who]
    return nodeIds.flatMap((nodeId): Carrier[] => {
      const wanted = nodeStates.get(nodeId, key)
      if (wanted === null) return []
      const report = this.#reports.entry(nodeId, key)
      return [{ nodeId, name: this.#nameOf(nodeId), liveness: liveness.of(nodeId), wanted, report }]
    })
  }

  /** Whether some of its addresses go where the shard's master is. */
  #isSharded(loadBalancerId: string): boolean {
    const { nodeStates } = this.#options
    const key = `lb/${loadBalancerId}`
    for (const nodeId of nodeStates.holders(key)) {
      const entry = nodeStates.get(nodeId, key)?.entry
      return entry?.kind === 'load-balancer' && entry.vips.some(({ announce }) => followsShard(announce))
    }
    return false
  }

  /** Whether every node announces this address. */
  #isRouted(loadBalancerId: string, address: string): boolean {
    const { nodeStates } = this.#options
    const key = `lb/${loadBalancerId}`
    for (const nodeId of nodeStates.holders(key)) {
      const entry = nodeStates.get(nodeId, key)?.entry
      if (entry?.kind === 'load-balancer')
        return entry.vips.some((vip) => vip.address === address && isRouted(vip.announce))
    }
    return false
  }

  /** What a shard moves is in the shard's own history: a thousand addresses that move at once are one move. */
  #noteAnnounced(nodeId: string, { key, before, after }: AnnouncedDifference, at: string): void {
    if (!key.startsWith('lb/')) return
    const id = key.slice('lb/'.length)
    const placement = this.#options.view.get('placement', id)?.value
    const shared = (placement?.shard ?? null) !== null
    const note = (address: string, event: VipMove['event']) => {
      if (shared && !this.#isRouted(id, address)) return
      this.#vipLog.note(id, address, { at, event, nodeId }, shared, (from) => this.#whyLeft(from))
    }
    for (const address of before) if (!after.includes(address)) note(address, 'released')
    for (const address of after) if (!before.includes(address)) note(address, 'taken')
  }

  /** Why the planner took an address from this node. */
  #whyLeft(nodeId: string): string {
    const { view, liveness } = this.#options
    const node = view.get('node', nodeId)?.value
    if (node === undefined) return 'NodeDeleted'
    if (liveness.of(nodeId) === 'lost') return 'NodeLost'
    return node.scheduling === 'draining' ? 'NodeDrained' : 'Planned'
  }

  #confirmations(id: string): readonly NodeConfirmation[] {
    const key = `lb/${id}`
    return [...this.#options.nodeStates.holders(key)].map((nodeId): NodeConfirmation => {
      const report = this.#reports.entry(nodeId, key)
      const current = report !== null && report.hash === this.#options.nodeStates.get(nodeId, key)?.hash
      return {
        nodeId,
        nodeName: this.#nameOf(nodeId),
        connection: this.#connection(nodeId),
        state: current ? report.state : 'waiting',
        message: current ? report.message : null,
        announced: report?.announced ?? [],
      }
    })
  }

  #members(loadBalancer: LoadBalancer, ownerNodeId: string | null): ReadonlyMap<string, MemberHealth> {
    const owner = ownerNodeId === null ? null : this.#reports.members(ownerNodeId, loadBalancer.id)
    const others = [...this.#options.nodeStates.holders(`lb/${loadBalancer.id}`)].flatMap(
      (nodeId) => this.#reports.members(nodeId, loadBalancer.id) ?? [],
    )
    const health = new Map<string, MemberHealth>()
    for (const pool of loadBalancer.pools) {
      // What was said while there was a monitor means nothing without one.
      if (pool.monitor === null || !pool.monitor.enabled) continue
      for (const { id } of pool.members) {
        const word = owner?.get(id) ?? worst(others.flatMap((said) => said.get(id) ?? []))
        if (word !== undefined) health.set(id, word)
      }
    }
    return health
  }

  #sums(id: string): ReadonlyMap<string, ServiceStats> {
    const sums = new Map<string, ServiceStats>()
    for (const [listenerId, stats] of this.#stats.get(id) ?? []) {
      const sum = stats.sum()
      if (sum !== null) sums.set(listenerId, sum)
    }
    return sums
  }

  #statsOf({ loadBalancerId, listenerId }: ServiceStats): StatsSum {
    const listeners = this.#stats.get(loadBalancerId) ?? new Map<string, StatsSum>()
    const stats = listeners.get(listenerId) ?? new StatsSum()
    this.#stats.set(loadBalancerId, listeners.set(listenerId, stats))
    return stats
  }

  #connection(nodeId: string): NodeConnection {
    if (this.#options.liveness.of(nodeId) === 'connected') return 'connected'
    const enrolled = this.#options.view.get('node', nodeId)?.value.certificateSha256 != null
    return enrolled ? 'disconnected' : 'never'
  }

  #ownerOf(id: string): string | null {
    const placement = this.#options.view.get('placement', id)?.value
    if (placement?.shard == null) return placement?.ownerNodeId ?? null
    if (!this.#isSharded(id)) return null
    return this.shard(placement.shard.nodeGroupId, placement.shard.number)?.ownerNodeId ?? null
  }

  #nameOf(nodeId: string): string {
    return this.#options.view.get('node', nodeId)?.value.name ?? nodeId
  }

  #nodeChanged(nodeId: string): void {
    if (this.#options.view.get('node', nodeId) === null) {
      this.#reports.forget(nodeId)
      this.#shards.forget(nodeId)
    }
    this.#tell('node', nodeId)
  }

  #livenessChanged(nodeId: string): void {
    if (this.#options.liveness.of(nodeId) === 'lost')
      for (const listeners of this.#stats.values()) for (const stats of listeners.values()) stats.ended(nodeId)
    this.#tell('node', nodeId)
    this.#reviewKeys([...this.#options.nodeStates.entries(nodeId)].map(({ key }) => key))
  }

  #shardChanged(nodeGroupId: string, number: number): void {
    const { view } = this.#options
    for (const { id, shard } of view.list('placement'))
      if (shard?.number === number && shard.nodeGroupId === nodeGroupId) this.#due.add(id)
    for (const node of view.list('node')) if (node.nodeGroupId === nodeGroupId) this.#tell('node', node.id)
    this.#review()
  }

  #reviewKeys(keys: Iterable<string>): void {
    for (const key of keys) if (key.startsWith('lb/')) this.#due.add(key.slice('lb/'.length))
    this.#review()
  }

  /** A slice at once, so that a confirmation is known as it arrives; the rest of a mass after letting others run. */
  #review(): void {
    if (this.#reviewing !== null) return
    let left = REVIEW_SLICE
    for (const id of this.#due) {
      if (left-- === 0) break
      this.#due.delete(id)
      this.#reviewOne(id)
    }
    if (this.#due.size === 0) return
    this.#reviewing = setImmediate(() => {
      this.#reviewing = null
      this.#review()
    })
  }

  #reviewOne(id: string): void {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) {
      this.#confirmed.delete(id)
      this.#stats.delete(id)
      this.#vipLog.forget(id)
      if (this.#meanings.delete(id)) this.#tell('loadBalancer', id)
      return
    }
    const verdict = this.#verdict(loadBalancer)
    if (verdict.confirmedBy !== null) this.#confirm(id, verdict.confirmedBy)
    this.#pruneStats(loadBalancer)
    const meaning = JSON.stringify([
      verdict,
      loadBalancer.generation,
      this.#confirmed.get(id)?.generation,
      this.#ownerOf(id),
      this.#confirmations(id),
    ])
    if (this.#meanings.get(id) === meaning) return
    this.#meanings.set(id, meaning)
    this.#tell('loadBalancer', id)
  }

  #confirm(id: string, nodeId: string): void {
    const held = this.#options.nodeStates.get(nodeId, `lb/${id}`)
    if (held === null) return
    const generation = generationOf(held.entry)
    if (this.#confirmed.get(id)?.generation === generation) return
    this.#confirmed.set(id, { generation, at: this.#options.clock.now().toISOString() })
  }

  #pruneStats({ id, listeners }: LoadBalancer): void {
    const stats = this.#stats.get(id)
    if (stats === undefined || stats.size <= listeners.length) return
    const live = new Set(listeners.map((listener) => listener.id))
    for (const listenerId of stats.keys()) if (!live.has(listenerId)) stats.delete(listenerId)
  }

  #tell(kind: 'loadBalancer' | 'node', id: string): void {
    for (const listener of this.#listeners) listener(kind, id)
  }
}

const UNKNOWN: Verdict = {
  provisioning: 'pending',
  reason: 'Unknown',
  message: 'There is no such load balancer',
  confirmedBy: null,
}

const SEVERITY = { down: 2, unknown: 1, up: 0 } as const

const worst = (words: readonly MemberHealth[]): MemberHealth | undefined =>
  words.reduce<MemberHealth | undefined>(
    (bad, word) => (bad === undefined || SEVERITY[word.health] > SEVERITY[bad.health] ? word : bad),
    undefined,
  )
