import type { CountedStats } from '../figures/counted.ts'
import type { Increment } from './stats-sum.ts'

const NOTHING: Increment = { bytesIn: 0, bytesOut: 0, totalConnections: 0, requestErrors: 0, activeConnections: 0 }

/**
 * What each node counted over all its listeners. It is added up report by report, so that a look at one of many nodes
 * costs nothing for what is on it, and a listener that goes takes back only its open connections.
 */
export class NodeSums {
  readonly #nodes = new Map<string, Increment>()
  readonly #onChange: (nodeId: string) => void

  constructor(onChange: (nodeId: string) => void) {
    this.#onChange = onChange
  }

  add(nodeId: string, more: Increment): void {
    const sum = this.#nodes.get(nodeId) ?? NOTHING
    this.#nodes.set(nodeId, {
      bytesIn: sum.bytesIn + more.bytesIn,
      bytesOut: sum.bytesOut + more.bytesOut,
      totalConnections: sum.totalConnections + more.totalConnections,
      requestErrors: sum.requestErrors + more.requestErrors,
      activeConnections: sum.activeConnections + more.activeConnections,
    })
    this.#onChange(nodeId)
  }

  /** Connections that were open are no longer counted on the node. */
  closed(nodeId: string, connections: number): void {
    if (this.#nodes.has(nodeId)) this.add(nodeId, { ...NOTHING, activeConnections: -connections })
  }

  /** The node is lost, and all its connections with it. */
  ended(nodeId: string): void {
    this.closed(nodeId, this.#nodes.get(nodeId)?.activeConnections ?? 0)
  }

  /** Null: it never counted anything. */
  of(nodeId: string): CountedStats | null {
    return this.#nodes.get(nodeId) ?? null
  }

  forget(nodeId: string): void {
    this.#nodes.delete(nodeId)
  }
}
