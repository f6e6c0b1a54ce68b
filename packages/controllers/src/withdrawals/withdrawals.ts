import type { ModelView } from '@spout/admission/contract'
import {
  loadBalancerKey,
  loadBalancerOfKey,
  type NodeToWithdraw,
  type Withdrawal,
  type WithdrawalReader,
} from '@spout/model'
import { type Clock, Listeners, type Timer } from '@spout/runtime'
import { nodeConnection } from '../liveness/node-connection.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { NodeReports } from '../reports/node-reports.ts'
import type { ReportDifference } from '../reports/report-difference.ts'

export interface WithdrawalsOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  readonly reports: NodeReports
  readonly clock: Clock
}

/** A load balancer that was deleted while this process ran. */
interface Leaving {
  readonly projectId: string | null
  readonly sinceMs: number
  /** Ids of nodes that had its entry and have not confirmed its removal. */
  readonly nodes: Set<string>
  /** Whether no node has its entry any more. */
  planned: boolean
  readonly timer: Timer
}

/** After this time a node that reports but has not confirmed the removal has a fault. Waiting longer does not help. */
const OVERDUE_MS = 30_000

/**
 * Tracks which nodes may still announce a deleted load balancer: those that had its entry, until they report its key as
 * removed. It does not wait for lost nodes. A load balancer that was deleted before this process started is known only
 * from reports, so every node that has not reported yet may still carry it.
 */
export class Withdrawals implements WithdrawalReader {
  readonly #options: WithdrawalsOptions
  readonly #startedMs: number
  readonly #leaving = new Map<string, Leaving>()
  /** Ids of nodes that have reported everything that they have since this process started. */
  readonly #reportedAll = new Set<string>()
  readonly #listeners = new Listeners()
  readonly #unsubscribe: readonly (() => void)[]

  constructor(options: WithdrawalsOptions) {
    this.#options = options
    const { view, nodeStates, liveness, clock } = options
    this.#startedMs = clock.monotonicMs()
    this.#unsubscribe = [
      view.onChange((changed) => {
        for (const { kind, id, goneFrom } of changed) {
          if (kind === 'loadBalancer' && view.get(kind, id) === null) this.#begin(id, goneFrom ?? null)
          if (kind === 'node' && view.get(kind, id) === null) this.#nodeGone(id)
        }
      }),
      nodeStates.onKeyChange((key) => this.#published(key)),
      liveness.onChange(() => this.#settleAll()),
    ]
  }

  withdrawal(id: string): Withdrawal {
    const leaving = this.#leaving.get(id)
    const { view, clock } = this.#options
    const exists = view.get('loadBalancer', id) !== null
    const waitingFor = this.#nodesWithout(id, leaving).map((nodeId) => this.#nodeOf(nodeId, id))
    const withdrawn = !exists && waitingFor.length === 0 && leaving?.planned !== false
    const sinceMs = leaving?.sinceMs ?? this.#startedMs
    return {
      projectId: leaving?.projectId ?? null,
      withdrawn,
      overdue: !exists && !withdrawn && clock.monotonicMs() - sinceMs >= OVERDUE_MS,
      waitingFor,
    }
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Call when a report was merged. */
  reported(nodeId: string, { keys, removed, whole }: Pick<ReportDifference, 'keys' | 'removed' | 'whole'>): void {
    const isNew = whole && !this.#reportedAll.has(nodeId)
    if (isNew) this.#reportedAll.add(nodeId)
    for (const key of new Set([...removed, ...keys])) {
      const id = loadBalancerOfKey(key)
      const leaving = id === null ? undefined : this.#leaving.get(id)
      if (id === null || leaving === undefined || this.#options.reports.entry(nodeId, key) !== null) continue
      leaving.nodes.delete(nodeId)
      this.#settle(id)
    }
    if (isNew || removed.length > 0 || keys.size > 0) this.#tell()
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const { timer } of this.#leaving.values()) timer.clear()
    this.#leaving.clear()
  }

  #begin(id: string, projectId: string | null): void {
    if (this.#leaving.has(id)) return
    const { clock, nodeStates, reports } = this.#options
    const key = loadBalancerKey(id)
    const nodes = new Set([...nodeStates.nodesWith(key), ...reports.reportersOf(key)])
    const timer = clock.setTimer(() => this.#tell(), OVERDUE_MS)
    this.#leaving.set(id, { projectId, sinceMs: clock.monotonicMs(), nodes, planned: false, timer })
  }

  /**
   * Updates the nodes of a withdrawal: a plan that was under way at the deletion may still publish the entry to a node.
   */
  #published(key: string): void {
    const id = loadBalancerOfKey(key)
    const leaving = id === null ? undefined : this.#leaving.get(id)
    if (id === null || leaving === undefined) return
    const nodeIds = [...this.#options.nodeStates.nodesWith(key)]
    for (const nodeId of nodeIds) leaving.nodes.add(nodeId)
    leaving.planned = nodeIds.length === 0
    this.#settle(id)
    this.#tell()
  }

  #nodeGone(nodeId: string): void {
    this.#reportedAll.delete(nodeId)
    for (const { nodes } of this.#leaving.values()) nodes.delete(nodeId)
    this.#settleAll()
  }

  #settleAll(): void {
    for (const id of [...this.#leaving.keys()]) this.#settle(id)
    this.#tell()
  }

  /** Drops a withdrawal that is complete, or whose load balancer exists again. From then on only reports count. */
  #settle(id: string): void {
    const leaving = this.#leaving.get(id)
    if (leaving === undefined) return
    const over = leaving.planned && this.#nodesWithout(id, leaving).length === 0
    if (!over && this.#options.view.get('loadBalancer', id) === null) return
    leaving.timer.clear()
    this.#leaving.delete(id)
  }

  #nodesWithout(id: string, leaving: Leaving | undefined): readonly string[] {
    const { view, liveness, reports } = this.#options
    const isWaitedFor = (nodeId: string) => liveness.of(nodeId) !== 'lost'
    if (leaving !== undefined) return [...leaving.nodes].filter(isWaitedFor)
    const nodes = view.list('node').map((node) => node.id)
    return nodes.filter(
      (nodeId) =>
        isWaitedFor(nodeId) && (!this.#reportedAll.has(nodeId) || reports.entry(nodeId, loadBalancerKey(id)) !== null),
    )
  }

  #nodeOf(nodeId: string, id: string): NodeToWithdraw {
    const { view, reports } = this.#options
    const name = view.get('node', nodeId)?.value.name ?? nodeId
    const message = reports.entry(nodeId, loadBalancerKey(id))?.message ?? null
    return { nodeId, nodeName: name, connection: nodeConnection(nodeId, this.#options), message }
  }

  #tell(): void {
    this.#listeners.tell()
  }
}
