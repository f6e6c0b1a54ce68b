import type { ModelView } from '@spout/admission/contract'
import {
  FIGURE_SPANS,
  type FigureSpan,
  type Figures,
  type FiguresReader,
  type LoadBalancerStatus,
  type LoadBalancerSummary,
  type LoadRates,
  type MemberTransition,
  type NodeStatus,
  type OwnershipReader,
  type ServiceStats,
  type ShardStatus,
  type StatusReader,
  UNSEEN_NODE,
  type VipMove,
  type Withdrawal,
  type WithdrawalReader,
} from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import { Listeners } from '@spout/runtime'

/** Answers every status as if no node had reported. Tests may set statuses. */
export class TestStatus implements StatusReader {
  readonly loadBalancers = new Map<string, Partial<LoadBalancerStatus>>()
  readonly nodes = new Map<string, Partial<NodeStatus>>()
  readonly #listeners = new Set<(kind: 'loadBalancer' | 'node', id: string) => void>()

  loadBalancer(id: string): LoadBalancerStatus {
    return {
      provisioning: 'pending',
      reason: 'WaitingForNode',
      message: 'No node has confirmed it yet.',
      serving: { state: 'yes', reason: 'Serving', message: '0 of 0 members answer.', membersUp: 0, members: 0 },
      confirmedGeneration: 0,
      confirmedAt: null,
      ownerNodeId: null,
      nodes: [],
      members: new Map(),
      stats: new Map(),
      ...this.loadBalancers.get(id),
    }
  }

  features(): readonly string[] {
    return []
  }

  nodeStats(): ReadonlyMap<string, ServiceStats> {
    return new Map()
  }

  requests(): ReadonlyMap<string, RequestParts> {
    return new Map()
  }

  summary(id: string): LoadBalancerSummary {
    const { nodes: _nodes, members: _members, stats: _stats, ...summary } = this.loadBalancer(id)
    return summary
  }

  node(nodeId: string): NodeStatus {
    return { nodeId, connection: 'never', ...UNSEEN_NODE, ...this.nodes.get(nodeId) }
  }

  confirmedHash(): null {
    return null
  }

  onChange(listener: (kind: 'loadBalancer' | 'node', id: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(id: string, status: Partial<LoadBalancerStatus>): void {
    this.loadBalancers.set(id, status)
    for (const listener of this.#listeners) listener('loadBalancer', id)
  }
}

/** Answers what was counted as a test set it. */
export class TestFigures implements FiguresReader {
  readonly now = new Map<string, LoadRates>()
  readonly transitions = new Map<string, readonly MemberTransition[]>()
  readonly series = new Map<string, Figures['series']>()
  readonly #listeners = new Listeners<string>()

  rates(id: string): LoadRates | null {
    return this.now.get(id) ?? null
  }

  figures(id: string, span: FigureSpan): Figures {
    const { stepSeconds } = FIGURE_SPANS[span]
    return { stepSeconds, from: '2026-01-01T00:00:00.000Z', series: this.series.get(id) ?? {} }
  }

  memberHistory(id: string): readonly MemberTransition[] {
    return this.transitions.get(id) ?? []
  }

  onRates(listener: (id: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  set(id: string, rates: LoadRates): void {
    this.now.set(id, rates)
    this.#listeners.tell(id)
  }
}

/** Answers shards and moves as a test set them. */
export class TestOwnership implements OwnershipReader {
  readonly all: ShardStatus[] = []
  readonly moves = new Map<string, readonly VipMove[]>()

  shards(nodeGroupId: string): readonly ShardStatus[] {
    return this.all.filter((one) => one.nodeGroupId === nodeGroupId)
  }

  shard(nodeGroupId: string, number: number): ShardStatus | null {
    return this.shards(nodeGroupId).find((one) => one.number === number) ?? null
  }

  history(loadBalancerId: string): readonly VipMove[] {
    return this.moves.get(loadBalancerId) ?? []
  }
}

/** Answers that nodes released every deleted load balancer at once, except those that a test holds. */
export class TestWithdrawals implements WithdrawalReader {
  readonly #view: ModelView
  readonly #held = new Map<string, Omit<Withdrawal, 'withdrawn'>>()
  readonly #listeners = new Set<() => void>()

  constructor(view: ModelView) {
    this.#view = view
  }

  withdrawal(id: string): Withdrawal {
    const held = this.#held.get(id)
    if (held !== undefined) return { ...held, withdrawn: false }
    const withdrawn = this.#view.get('loadBalancer', id) === null
    return { projectId: null, withdrawn, overdue: false, waitingFor: [] }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  hold(id: string, held: Omit<Withdrawal, 'withdrawn'>): void {
    this.#held.set(id, held)
    for (const listener of this.#listeners) listener()
  }

  letGo(id: string): void {
    this.#held.delete(id)
    for (const listener of this.#listeners) listener()
  }
}
