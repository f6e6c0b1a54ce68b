import type { ModelView, ReportSink } from '@spout/admission/contract'
import {
  type FigureSpan,
  type Figures,
  type FiguresReader,
  type LoadBalancer,
  type LoadBalancerStatus,
  type LoadBalancerSummary,
  type LoadRates,
  type LocalReport,
  loadBalancerOfKey,
  type MemberTransition,
  type NodeReport,
  type NodeStatus,
  type OwnershipReader,
  type ServiceStats,
  type ShardStatus,
  type Sight,
  type StatusReader,
  type VipMove,
} from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import type { Clock, Logger } from '@spout/runtime'
import { FigureHistory } from '../figures/figure-history.ts'
import { MemberHistory } from '../figures/member-history.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { SightReader } from '../liveness/peer-watch.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import { NodeStatuses } from '../node-status/node-statuses.ts'
import { NodeReports } from '../reports/node-reports.ts'
import { ReportScope } from '../reports/report-scope.ts'
import { ShardTable, type ShardTakeover } from '../shards/shard-table.ts'
import { Withdrawals } from '../withdrawals/withdrawals.ts'
import { AdoptedIndex } from './adopted-index.ts'
import { Carriers } from './carriers.ts'
import { LaterReviews } from './later-reviews.ts'
import { LoadBalancerStatuses } from './load-balancer-statuses.ts'
import { LocalCarriers } from './local-carriers.ts'
import { offerNotice } from './offer-notice.ts'
import { ProvisioningCounts } from './provisioning-counts.ts'
import type { ProvisioningStatus } from './provisioning-status.ts'
import { ReviewQueue } from './review-queue.ts'
import { ServiceSums } from './service-sums.ts'
import { VipHistory } from './vip-history.ts'

export interface StatusControllerOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  readonly clock: Clock
  readonly log?: Logger
  /** Limit of the history of figures, in bytes. Default: none is kept. */
  readonly mostFigureBytes?: number
}

type Listener = (kind: 'loadBalancer' | 'node', id: string) => void

/**
 * Computes the status of objects, and which nodes announce them, from placements and node reports. It is soft state:
 * after a restart the nodes report again. The last report of a silent node stays in force.
 */
export class StatusController implements StatusReader, OwnershipReader, SightReader, FiguresReader, ReportSink {
  /** The withdrawals of deleted load balancers. */
  readonly withdrawals: Withdrawals
  readonly #options: StatusControllerOptions
  readonly #reports = new NodeReports()
  readonly #scope: ReportScope
  readonly #shards: ShardTable
  readonly #carriers: Carriers
  readonly #nodes: NodeStatuses
  readonly #vips: VipHistory
  readonly #sums = new ServiceSums((nodeId) => this.#figures.moved(nodeId))
  readonly #adopted: AdoptedIndex
  readonly #figures: FigureHistory
  readonly #memberHistory = new MemberHistory()
  /** By load balancer id: the status with which listeners were last called, as a text to compare. */
  readonly #meanings = new Map<string, string>()
  readonly #provisioning = new ProvisioningCounts()
  readonly #loadBalancers: LoadBalancerStatuses
  readonly #reviews = new ReviewQueue((id) => this.#reviewOne(id))
  readonly #listeners = new Set<Listener>()
  readonly #unsubscribe: readonly (() => void)[]
  /** Reviews of load balancers whose requested move to another node may still be under way. */
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
    this.#loadBalancers = new LoadBalancerStatuses({
      ...options,
      ...{ carriers: this.#carriers, shards: this.#shards, sums: this.#sums },
      local: new LocalCarriers({ ...options, reports: this.#reports, sums: this.#sums }),
    })
    this.#adopted = new AdoptedIndex(view)
    this.#figures = new FigureHistory({
      clock: options.clock,
      counted: (id) => {
        const ofNode = this.#sums.nodes.of(id)
        return ofNode === null ? [...this.#sums.sinceStart(id).values()] : [ofNode]
      },
      mostBytes: options.mostFigureBytes ?? 0,
    })
    this.#laterReviews = new LaterReviews(options.clock, (id) => this.#review([id]))
    this.#unsubscribe = [
      view.onChange((changed) => {
        if (changed.some(({ kind }) => kind === 'node' || kind === 'nodeGroup')) this.#loadBalancers.forgetStatuses()
        for (const { kind, id } of changed) {
          if (kind === 'node') this.#nodeChanged(id)
          if (kind === 'loadBalancer') this.#adopted.changed(id)
        }
        this.#review(changed.flatMap(({ kind, id }) => (kind === 'loadBalancer' || kind === 'placement' ? [id] : [])))
        this.#offersChanged(changed)
      }),
      nodeStates.onKeyChange((key) => {
        this.#nodes.keyChanged(key)
        const id = loadBalancerOfKey(key)
        if (id !== null) this.#loadBalancers.entryChanged(id)
        this.#reviewKeys([key])
      }),
      liveness.onChange((nodeId) => this.#livenessChanged(nodeId)),
      this.#shards.onChange((groupId, number) => this.#shardChanged(groupId, number)),
    ]
  }

  report(nodeId: string, report: NodeReport): { readonly resend: boolean } {
    const { view, clock, liveness } = this.#options
    const at = clock.now().toISOString()
    const isMember = (id: string) => this.#options.view.child(id) !== null
    const difference = this.#reports.merge(nodeId, this.#scope.within(nodeId, report), at, isMember)
    this.#scope.merged(nodeId, report, difference.whole && !difference.resend)
    if (difference.keys.size > 0 || difference.shards !== null) this.#nodes.nodeChanged(nodeId)
    this.withdrawals.reported(nodeId, difference)
    if (!difference.shardsAreOld) this.#shards.report(nodeId, difference.shards)
    // After the merge, because listeners of liveness judge a connected node by its report.
    liveness.heardOf(nodeId)
    for (const announced of difference.announced) this.#vips.note(nodeId, announced, at)
    for (const stats of difference.stats) {
      this.#sums.report(nodeId, stats)
      this.#figures.moved(stats.loadBalancerId)
    }
    const nodeName = view.get('node', nodeId)?.value.name ?? nodeId
    for (const health of difference.health) this.#memberHistory.note(nodeName, health)
    this.#localReported(nodeId, difference.local)
    for (const id of difference.loadBalancers) {
      this.#loadBalancers.servingChanged(id)
      this.#tell('loadBalancer', id)
    }
    this.#sharesChanged(nodeId, difference.overShares)
    for (const id of difference.logTroubles) {
      this.#loadBalancers.servingChanged(id)
      this.#tell('loadBalancer', id)
    }
    if (difference.node || difference.keys.has('group')) this.#tell('node', nodeId)
    this.#reviewKeys(difference.keys)
    return { resend: difference.resend }
  }

  loadBalancer(id: string): LoadBalancerStatus {
    return this.#loadBalancers.of(id).status
  }

  nodeStats(nodeId: string, loadBalancerId: string): ReadonlyMap<string, ServiceStats> {
    return this.#sums.onNode(nodeId, loadBalancerId)
  }

  requests(id: string): ReadonlyMap<string, RequestParts> {
    return this.#sums.parts(id)
  }

  summary(id: string): LoadBalancerSummary {
    return this.#loadBalancers.of(id).summary
  }

  /** The number of load balancers by provisioning status. Its cost is constant. */
  get counts(): Readonly<Record<ProvisioningStatus['provisioning'], number>> {
    const { active, error } = this.#provisioning.counts
    return { pending: this.#options.view.list('loadBalancer').length - active - error, active, error }
  }

  node(id: string): NodeStatus {
    return this.#nodes.of(id)
  }

  /** The load balancers of the node's own settings; null while its agent says nothing about them. */
  local(nodeId: string): readonly LocalReport[] | null {
    return this.#reports.node(nodeId)?.local ?? null
  }

  /** Says which load balancers of its own settings are not shown, and why. */
  setLocalProblems(nodeId: string, problems: NodeStatus['problems']): void {
    if (this.#nodes.setLocalProblems(nodeId, problems)) this.#tell('node', nodeId)
  }

  /** How many items of the node's reports were dropped (`ReportScope`). */
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

  rates(loadBalancerId: string): LoadRates | null {
    return this.#figures.rates(loadBalancerId)
  }

  figures(id: string, span: FigureSpan): Figures {
    return this.#figures.read(id, span)
  }

  memberHistory(loadBalancerId: string): readonly MemberTransition[] {
    return this.#memberHistory.of(loadBalancerId)
  }

  onRates(listener: (loadBalancerId: string) => void): () => void {
    return this.#figures.onRates((id) => {
      if (this.#sums.nodes.of(id) === null) listener(id)
    })
  }

  /** As `ShardTable.onTakeover`. */
  onTakeover(listener: (takeover: ShardTakeover) => void): () => void {
    return this.#shards.onTakeover(listener)
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Follows nothing any more. It still answers, as for nodes that have not reported what changed since. */
  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#loadBalancers.close()
    this.#shards.close()
    this.withdrawals.close()
    this.#laterReviews.close()
    this.#figures.close()
    this.#reviews.close()
  }

  /** @param changed names of load balancers in its own settings whose report changed */
  #localReported(nodeId: string, changed: ReadonlySet<string>): void {
    const groupId = this.#options.view.get('node', nodeId)?.value.nodeGroupId
    if (groupId === undefined) return
    for (const { name, counters } of this.local(nodeId) ?? []) {
      const { id: loadBalancerId, listeners = [] } = this.#adopted.get(groupId, name) ?? {}
      const [listener] = listeners
      if (counters === null || loadBalancerId === undefined || listener === undefined) continue
      this.#sums.report(nodeId, { loadBalancerId, listenerId: listener.id, ...counters })
      this.#figures.moved(loadBalancerId)
    }
    for (const name of changed) {
      const id = this.#adopted.get(groupId, name)?.id
      if (id === undefined) continue
      this.#review([id])
      this.#tell('loadBalancer', id)
    }
  }

  /** @param domains whose reports of exceeded shares changed on the node */
  #sharesChanged(nodeId: string, domains: ReadonlySet<number>): void {
    if (domains.size === 0) return
    for (const { entry } of this.#options.nodeStates.entries(nodeId)) {
      if (entry.kind !== 'load-balancer' || !domains.has(entry.domain)) continue
      this.#loadBalancers.servingChanged(entry.id)
      this.#tell('loadBalancer', entry.id)
    }
  }

  /** Reviews the load balancers of changed classes and zones, whose status says whether these are still offered. */
  #offersChanged(changed: readonly { readonly kind: string; readonly id: string }[]): void {
    const offers = new Set(
      changed.flatMap(({ kind, id }) => (kind === 'loadBalancerClass' || kind === 'availabilityZone' ? [id] : [])),
    )
    if (offers.size === 0) return
    const isOf = ({ classId = '', zoneId = '' }: LoadBalancer) => offers.has(classId) || offers.has(zoneId)
    this.#review(this.#options.view.list('loadBalancer').flatMap((one) => (isOf(one) ? [one.id] : [])))
  }

  #nodeChanged(nodeId: string): void {
    if (this.#options.view.get('node', nodeId) === null) {
      this.#reports.forget(nodeId)
      this.#loadBalancers.forgetAll()
      this.#scope.forget(nodeId)
      this.#nodes.nodeChanged(nodeId)
      this.#shards.forget(nodeId)
      this.#sums.nodes.forget(nodeId)
      this.#figures.forget(nodeId)
    }
    this.#tell('node', nodeId)
  }

  #livenessChanged(nodeId: string): void {
    if (this.#options.liveness.of(nodeId) === 'lost') this.#sums.ended(nodeId)
    this.#tell('node', nodeId)
    this.#reviewKeys([...this.#options.nodeStates.entries(nodeId)].map(({ key }) => key))
    const groupId = this.#options.view.get('node', nodeId)?.value.nodeGroupId ?? ''
    this.#review((this.local(nodeId) ?? []).flatMap(({ name }) => this.#adopted.get(groupId, name)?.id ?? []))
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
    for (const id of ids) this.#loadBalancers.statusChanged(id)
    this.#reviews.add(ids)
  }

  #reviewOne(id: string): void {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) {
      this.#loadBalancers.deleted(id)
      this.#provisioning.set(id, null)
      this.#sums.forget(id)
      this.#figures.forget(id)
      this.#memberHistory.forget(id)
      this.#vips.forget(id)
      if (this.#meanings.delete(id)) this.#tell('loadBalancer', id)
      return
    }
    const status = this.#loadBalancers.provisioningOf(loadBalancer)
    this.#provisioning.set(id, status.provisioning)
    if (status.confirmedBy !== null) this.#loadBalancers.confirm(id, status.confirmedBy)
    this.#sums.prune(loadBalancer)
    if (status.reason === 'FailingOver')
      this.#laterReviews.after(this.#loadBalancers.leavesWithinMs(loadBalancer) + 1, id)
    const meaning = JSON.stringify([
      status,
      offerNotice(this.#options.view, loadBalancer) ?? null,
      loadBalancer.generation,
      this.#loadBalancers.confirmedGeneration(id),
      this.#loadBalancers.ownerOf(id),
      this.#carriers.confirmations(id),
    ])
    if (this.#meanings.get(id) === meaning) return
    this.#meanings.set(id, meaning)
    this.#tell('loadBalancer', id)
  }

  #tell(kind: 'loadBalancer' | 'node', id: string): void {
    for (const listener of this.#listeners) listener(kind, id)
  }
}
