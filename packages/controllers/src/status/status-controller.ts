import type { ModelView, ReportSink } from '@spout/admission/contract'
import {
  type LoadBalancer,
  type LoadBalancerStatus,
  type LoadBalancerSummary,
  loadBalancerKey,
  loadBalancerOfKey,
  type NodeReport,
  type NodeStatus,
  type OwnershipReader,
  type Placement,
  type ServiceStats,
  type Serving,
  type ShardStatus,
  type Sight,
  type StatusReader,
  type VipMove,
} from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import { mayLeaveUntilMs } from '@spout/plan'
import type { Clock, Logger } from '@spout/runtime'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { SightReader } from '../liveness/peer-watch.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import { NodeStatuses } from '../node-status/node-statuses.ts'
import { NodeReports } from '../reports/node-reports.ts'
import { ReportScope } from '../reports/report-scope.ts'
import { MOVE_GRACE_MS, ShardTable, type ShardTakeover } from '../shards/shard-table.ts'
import { Withdrawals } from '../withdrawals/withdrawals.ts'
import { Carriers } from './carriers.ts'
import { KnownStatuses, type WorkedOut } from './known-statuses.ts'
import { LaterReviews } from './later-reviews.ts'
import { ProvisioningCounts } from './provisioning-counts.ts'
import { generationOf, type ProvisioningStatus, provisioningStatus } from './provisioning-status.ts'
import { ReviewQueue } from './review-queue.ts'
import { ServiceSums } from './service-sums.ts'
import { ServingStatuses } from './serving-statuses.ts'
import { VipHistory } from './vip-history.ts'

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

/**
 * The status of objects, and who announces them, worked out from placements and node reports. Soft state: after a
 * restart the nodes report it again. A silent node keeps its last report.
 */
export class StatusController implements StatusReader, OwnershipReader, SightReader, ReportSink {
  /** The withdrawals of deleted load balancers. */
  readonly withdrawals: Withdrawals
  readonly #options: StatusControllerOptions
  readonly #reports = new NodeReports()
  readonly #scope: ReportScope
  readonly #shards: ShardTable
  readonly #carriers: Carriers
  readonly #nodes: NodeStatuses
  readonly #vips: VipHistory
  readonly #sums = new ServiceSums()
  readonly #confirmed = new Map<string, Confirmed>()
  /** The last status that listeners were called with, as a text to compare. */
  readonly #meanings = new Map<string, string>()
  readonly #provisioning = new ProvisioningCounts()
  readonly #serving: ServingStatuses
  readonly #statuses = new KnownStatuses()
  readonly #reviews = new ReviewQueue((id) => this.#reviewOne(id))
  readonly #listeners = new Set<Listener>()
  readonly #unsubscribe: readonly (() => void)[]
  /** Later reviews of load balancers whose move to another node may take some time. */
  readonly #laterReviews: LaterReviews

  constructor(options: StatusControllerOptions) {
    this.#options = options
    const { view, nodeStates, liveness } = options
    this.#scope = new ReportScope({ ...options, reports: this.#reports })
    this.#shards = new ShardTable(options)
    this.#carriers = new Carriers({ ...options, reports: this.#reports })
    this.withdrawals = new Withdrawals({ ...options, reports: this.#reports })
    this.#nodes = new NodeStatuses({ ...options, reports: this.#reports })
    this.#vips = new VipHistory({ ...options, carriers: this.#carriers, shards: this.#shards })
    this.#serving = new ServingStatuses(this.#carriers, (id) => this.#ownerOf(id))
    this.#laterReviews = new LaterReviews(options.clock, (id) => this.#review([id]))
    this.#unsubscribe = [
      view.onChange((changed) => {
        if (changed.some(({ kind }) => kind === 'node' || kind === 'nodeGroup')) this.#statuses.forgetAll()
        for (const { kind, id } of changed) if (kind === 'node') this.#nodeChanged(id)
        this.#review(changed.flatMap(({ kind, id }) => (kind === 'loadBalancer' || kind === 'placement' ? [id] : [])))
      }),
      nodeStates.onKeyChange((key) => {
        this.#nodes.keyChanged(key)
        const id = loadBalancerOfKey(key)
        if (id !== null) this.#servingChanged(id)
        this.#reviewKeys([key])
      }),
      liveness.onChange((nodeId) => this.#livenessChanged(nodeId)),
      this.#shards.onChange((groupId, number) => this.#shardChanged(groupId, number)),
    ]
  }

  report(nodeId: string, report: NodeReport): { readonly resend: boolean } {
    const { clock, liveness } = this.#options
    liveness.heardOf(nodeId)
    const at = clock.now().toISOString()
    const isMember = (id: string) => this.#options.view.child(id) !== null
    const difference = this.#reports.merge(nodeId, this.#scope.within(nodeId, report), at, isMember)
    this.#scope.merged(nodeId, report, difference.whole && !difference.resend)
    if (difference.keys.size > 0 || difference.shards !== null) this.#nodes.nodeChanged(nodeId)
    this.withdrawals.reported(nodeId, difference)
    if (!difference.shardsAreOld) this.#shards.report(nodeId, difference.shards)
    for (const announced of difference.announced) this.#vips.note(nodeId, announced, at)
    for (const stats of difference.stats) this.#sums.report(nodeId, stats)
    for (const id of difference.loadBalancers) {
      this.#servingChanged(id)
      this.#tell('loadBalancer', id)
    }
    this.#sharesChanged(nodeId, difference.overShares)
    for (const id of difference.logTroubles) {
      this.#servingChanged(id)
      this.#tell('loadBalancer', id)
    }
    if (difference.node || difference.keys.has('group')) this.#tell('node', nodeId)
    this.#reviewKeys(difference.keys)
    return { resend: difference.resend }
  }

  loadBalancer(id: string): LoadBalancerStatus {
    return this.#known(id).status
  }

  nodeStats(nodeId: string, loadBalancerId: string): ReadonlyMap<string, ServiceStats> {
    return this.#sums.onNode(nodeId, loadBalancerId)
  }

  requests(id: string): ReadonlyMap<string, RequestParts> {
    return this.#sums.parts(id)
  }

  summary(id: string): LoadBalancerSummary {
    return this.#known(id).summary
  }

  /** How many load balancers there are, by provisioning. Its cost is constant. */
  get counts(): Readonly<Record<ProvisioningStatus['provisioning'], number>> {
    const { active, error } = this.#provisioning.counts
    return { pending: this.#options.view.list('loadBalancer').length - active - error, active, error }
  }

  node(id: string): NodeStatus {
    return this.#nodes.of(id)
  }

  /** How many items of the node's reports were dropped because it was not given them. */
  ignored(nodeId: string): number {
    return this.#scope.ignored(nodeId)
  }

  features(nodeId: string): readonly string[] {
    return this.#reports.node(nodeId)?.features ?? []
  }

  sights(nodeId: string): readonly Sight[] {
    return this.#reports.node(nodeId)?.sights ?? []
  }

  confirmedHash(nodeId: string, key: string): string | null {
    const report = this.#reports.entry(nodeId, key)
    return report?.state === 'programmed' ? report.hash : null
  }

  shards(nodeGroupId: string): readonly ShardStatus[] {
    return [...this.#shards.shards(nodeGroupId)]
  }

  shard(nodeGroupId: string, number: number): ShardStatus | null {
    return this.#shards.shard(nodeGroupId, number)
  }

  history(loadBalancerId: string, address: string): readonly VipMove[] {
    return this.#vips.moves(loadBalancerId, address)
  }

  /** Calls back with each takeover of a shard whose previous owner was known. */
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
    this.withdrawals.close()
    this.#laterReviews.close()
    this.#reviews.close()
  }

  #known(id: string): WorkedOut {
    const { view } = this.#options
    const loadBalancer = view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) return this.#workedOut(id, UNKNOWN, NOBODY_SERVES, false)
    const placement = view.get('placement', id)?.value ?? null
    return this.#statuses.of(loadBalancer, placement, () => {
      const { status, holds } = this.#provisioningOf(loadBalancer, placement)
      return this.#workedOut(id, status, this.#serving.of(loadBalancer), holds)
    })
  }

  #workedOut(id: string, provisioning: ProvisioningStatus, serving: Serving, holds: boolean): WorkedOut {
    const { confirmedBy: _, ...status } = provisioning
    const confirmed = this.#confirmed.get(id)
    const summary: LoadBalancerSummary = {
      ...{ ...status, serving },
      confirmedGeneration: confirmed?.generation ?? 0,
      confirmedAt: confirmed?.at ?? null,
      ownerNodeId: this.#ownerOf(id),
    }
    const carriers = this.#carriers
    const sums = this.#sums
    const members = () => this.#membersOf(id)
    return {
      summary,
      // Lists mostly show the summary, so the rest is computed on access.
      status: {
        ...summary,
        get nodes() {
          return carriers.confirmations(id)
        },
        get members() {
          return members()
        },
        get stats() {
          return sums.of(id)
        },
      },
      holds,
    }
  }

  #membersOf(id: string): LoadBalancerStatus['members'] {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    return loadBalancer === undefined ? new Map() : this.#serving.membersOf(loadBalancer)
  }

  #statusOf(loadBalancer: LoadBalancer): ProvisioningStatus {
    return this.#provisioningOf(loadBalancer, this.#options.view.get('placement', loadBalancer.id)?.value ?? null)
      .status
  }

  /** `holds`: until something changes; else it may end with the time. */
  #provisioningOf(
    loadBalancer: LoadBalancer,
    placement: Placement | null,
  ): { readonly status: ProvisioningStatus; readonly holds: boolean } {
    const { view } = this.#options
    const place = placement?.shard ?? null
    const changedForMs = place === null ? null : this.#shards.changedForMs(place.nodeGroupId, place.number)
    const hasMoved = changedForMs !== null && changedForMs < MOVE_GRACE_MS
    const leaving = this.#leavesWithinMs(loadBalancer) > 0
    const status = provisioningStatus({
      loadBalancer,
      placement,
      carriers: this.#carriers.of(loadBalancer.id, place === null ? (placement?.ownerNodeId ?? null) : 'all'),
      shard: place === null ? null : this.shard(place.nodeGroupId, place.number),
      groupName: place === null ? '' : (view.get('nodeGroup', place.nodeGroupId)?.value.name ?? place.nodeGroupId),
      leaving,
      moving: hasMoved && this.#confirmed.get(loadBalancer.id)?.generation === loadBalancer.generation,
    })
    return { status, holds: !hasMoved && !leaving }
  }

  /** Milliseconds that an ordered move may take to get it off the node that it should leave; 0 without a move. */
  #leavesWithinMs({ id, leftNodeId }: LoadBalancer): number {
    const { view, clock } = this.#options
    const place = view.get('placement', id)?.value.shard
    if (leftNodeId === undefined || !place) return 0
    const group = view.get('nodeGroup', place.nodeGroupId)?.value
    const untilMs = group === undefined ? null : mayLeaveUntilMs(group, place.number, leftNodeId)
    return untilMs === null ? 0 : Math.max(0, untilMs - clock.now().getTime())
  }

  /** Networks that have gone over or back under their share of a node. */
  #sharesChanged(nodeId: string, domains: ReadonlySet<number>): void {
    if (domains.size === 0) return
    for (const { entry } of this.#options.nodeStates.entries(nodeId)) {
      if (entry.kind !== 'load-balancer' || !domains.has(entry.domain)) continue
      this.#servingChanged(entry.id)
      this.#tell('loadBalancer', entry.id)
    }
  }

  #ownerOf(id: string): string | null {
    const placement = this.#options.view.get('placement', id)?.value
    if (placement?.shard == null) return placement?.ownerNodeId ?? null
    if (!this.#carriers.isSharded(id)) return null
    return this.shard(placement.shard.nodeGroupId, placement.shard.number)?.ownerNodeId ?? null
  }

  #nodeChanged(nodeId: string): void {
    if (this.#options.view.get('node', nodeId) === null) {
      this.#reports.forget(nodeId)
      this.#serving.forgetAll()
      this.#statuses.forgetAll()
      this.#scope.forget(nodeId)
      this.#nodes.nodeChanged(nodeId)
      this.#shards.forget(nodeId)
    }
    this.#tell('node', nodeId)
  }

  #livenessChanged(nodeId: string): void {
    if (this.#options.liveness.of(nodeId) === 'lost') this.#sums.ended(nodeId)
    this.#tell('node', nodeId)
    this.#reviewKeys([...this.#options.nodeStates.entries(nodeId)].map(({ key }) => key))
  }

  #shardChanged(nodeGroupId: string, number: number): void {
    const { view } = this.#options
    const inShard = view
      .list('placement')
      .filter(({ shard }) => shard?.number === number && shard.nodeGroupId === nodeGroupId)
    for (const node of view.list('node')) if (node.nodeGroupId === nodeGroupId) this.#tell('node', node.id)
    this.#review(inShard.map(({ id }) => id))
  }

  #reviewKeys(keys: Iterable<string>): void {
    this.#review([...keys].flatMap((key) => loadBalancerOfKey(key) ?? []))
  }

  #review(ids: readonly string[]): void {
    for (const id of ids) this.#statuses.forget(id)
    this.#reviews.add(ids)
  }

  #servingChanged(id: string): void {
    this.#serving.forget(id)
    this.#statuses.forget(id)
  }

  #reviewOne(id: string): void {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) {
      this.#confirmed.delete(id)
      this.#servingChanged(id)
      this.#provisioning.set(id, null)
      this.#sums.forget(id)
      this.#vips.forget(id)
      if (this.#meanings.delete(id)) this.#tell('loadBalancer', id)
      return
    }
    const status = this.#statusOf(loadBalancer)
    this.#provisioning.set(id, status.provisioning)
    if (status.confirmedBy !== null) this.#confirm(id, status.confirmedBy)
    this.#sums.prune(loadBalancer)
    if (status.reason === 'FailingOver') this.#laterReviews.after(this.#leavesWithinMs(loadBalancer) + 1, id)
    const meaning = JSON.stringify([
      status,
      loadBalancer.generation,
      this.#confirmed.get(id)?.generation,
      this.#ownerOf(id),
      this.#carriers.confirmations(id),
    ])
    if (this.#meanings.get(id) === meaning) return
    this.#meanings.set(id, meaning)
    this.#tell('loadBalancer', id)
  }

  #confirm(id: string, nodeId: string): void {
    const held = this.#options.nodeStates.get(nodeId, loadBalancerKey(id))
    if (held === null) return
    const generation = generationOf(held.entry)
    if (this.#confirmed.get(id)?.generation === generation) return
    this.#confirmed.set(id, { generation, at: this.#options.clock.now().toISOString() })
    this.#statuses.forget(id)
  }

  #tell(kind: 'loadBalancer' | 'node', id: string): void {
    for (const listener of this.#listeners) listener(kind, id)
  }
}

const UNKNOWN: ProvisioningStatus = {
  provisioning: 'pending',
  reason: 'Unknown',
  message: 'There is no such load balancer',
  confirmedBy: null,
}

const NOBODY_SERVES: Serving = {
  state: 'no',
  reason: 'NoListeners',
  message: 'There is no such load balancer.',
  membersUp: 0,
  members: 0,
}
