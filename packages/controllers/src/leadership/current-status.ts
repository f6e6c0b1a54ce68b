import type { ModelView } from '@spout/admission/contract'
import type {
  FigureSpan,
  Figures,
  FiguresReader,
  LoadBalancerStatus,
  LoadBalancerSummary,
  LoadRates,
  MemberTransition,
  NodeStatus,
  OwnershipReader,
  ServiceStats,
  ShardStatus,
  StatusReader,
  VipMove,
  Withdrawal,
  WithdrawalReader,
} from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import { Listeners } from '@spout/runtime'
import type { ShardTakeover } from '../shards/shard-table.ts'
import type { StatusController } from '../status/status-controller.ts'

type Listener = (kind: 'loadBalancer' | 'node', id: string) => void

/** What a process says that hears nothing of nodes: they may still announce it. */
const NOT_KNOWN_HERE: Withdrawal = { projectId: null, withdrawn: false, overdue: false, waitingFor: [] }

/**
 * The status as surfaces and metrics read it, whichever status controller works it out now: each term of leading has its
 * own. Who listens here keeps listening when it is replaced. While another process leads, no node reports to this one, and
 * everything is as before the first report.
 */
export class CurrentStatus implements StatusReader, OwnershipReader, FiguresReader {
  readonly withdrawals: WithdrawalReader
  readonly #view: ModelView
  readonly #atRest: StatusController
  #now: StatusController
  readonly #listeners = new Set<Listener>()
  readonly #takeoverListeners = new Listeners<ShardTakeover>()
  readonly #ratesListeners = new Listeners<string>()
  readonly #withdrawalListeners = new Listeners()
  #unsubscribe: readonly (() => void)[] = []

  /** @param atRest answers while another process leads; it is closed */
  constructor(view: ModelView, atRest: StatusController) {
    this.#view = view
    this.#atRest = atRest
    this.#now = atRest
    this.withdrawals = {
      withdrawal: (id) => (this.#now === this.#atRest ? NOT_KNOWN_HERE : this.#now.withdrawals.withdrawal(id)),
      onChange: (listener) => this.#withdrawalListeners.add(listener),
    }
  }

  /** From now on this one is asked. No node has reported to it yet, so until one does every status is as it was at rest. */
  follow(status: StatusController): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#now = status
    this.#unsubscribe = [
      status.onChange((kind, id) => this.#tell(kind, id)),
      status.onRates((id) => this.#ratesListeners.tell(id)),
      status.onTakeover((takeover) => this.#takeoverListeners.tell(takeover)),
      status.withdrawals.onChange(() => this.#withdrawalListeners.tell()),
    ]
    this.#withdrawalListeners.tell()
  }

  /** From now on another process leads, or nobody. Listeners are called for every object: what nodes reported is gone. */
  rest(): void {
    this.follow(this.#atRest)
    for (const kind of ['node', 'loadBalancer'] as const)
      for (const { id } of this.#view.list(kind)) this.#tell(kind, id)
  }

  loadBalancer(id: string): LoadBalancerStatus {
    return this.#now.loadBalancer(id)
  }

  summary(id: string): LoadBalancerSummary {
    return this.#now.summary(id)
  }

  nodeStats(nodeId: string, loadBalancerId: string): ReadonlyMap<string, ServiceStats> {
    return this.#now.nodeStats(nodeId, loadBalancerId)
  }

  requests(loadBalancerId: string): ReadonlyMap<string, RequestParts> {
    return this.#now.requests(loadBalancerId)
  }

  node(id: string): NodeStatus {
    return this.#now.node(id)
  }

  features(nodeId: string): readonly string[] {
    return this.#now.features(nodeId)
  }

  confirmedHash(nodeId: string, key: string): string | null {
    return this.#now.confirmedHash(nodeId, key)
  }

  shards(nodeGroupId: string): readonly ShardStatus[] {
    return this.#now.shards(nodeGroupId)
  }

  shard(nodeGroupId: string, number: number): ShardStatus | null {
    return this.#now.shard(nodeGroupId, number)
  }

  history(loadBalancerId: string, address: string): readonly VipMove[] {
    return this.#now.history(loadBalancerId, address)
  }

  rates(loadBalancerId: string): LoadRates | null {
    return this.#now.rates(loadBalancerId)
  }

  figures(id: string, span: FigureSpan): Figures {
    return this.#now.figures(id, span)
  }

  memberHistory(loadBalancerId: string): readonly MemberTransition[] {
    return this.#now.memberHistory(loadBalancerId)
  }

  onRates(listener: (loadBalancerId: string) => void): () => void {
    return this.#ratesListeners.add(listener)
  }

  /** As of the status controller. */
  get counts(): StatusController['counts'] {
    return this.#now.counts
  }

  /** As of the status controller. */
  ignored(nodeId: string): number {
    return this.#now.ignored(nodeId)
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onTakeover(listener: (takeover: ShardTakeover) => void): () => void {
    return this.#takeoverListeners.add(listener)
  }

  #tell(kind: 'loadBalancer' | 'node', id: string): void {
    for (const listener of this.#listeners) listener(kind, id)
  }
}
