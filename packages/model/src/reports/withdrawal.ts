import type { NodeConnection } from './status.ts'

/** How far the nodes have removed a deleted load balancer. Soft state: after a restart the nodes report it again. */
export interface Withdrawal {
  /** The project that owned it; null when that is no longer known. */
  readonly projectId: string | null
  /** Whether every connected node has confirmed that it removed all addresses and listeners. */
  readonly withdrawn: boolean
  /** Whether it takes longer than it should. */
  readonly overdue: boolean
  /** The nodes that have not confirmed yet. */
  readonly waitingFor: readonly NodeToWithdraw[]
}

export interface NodeToWithdraw {
  readonly nodeId: string
  readonly nodeName: string
  readonly connection: NodeConnection
  /** The node's own message that says why it failed. Null if it has not answered. */
  readonly message: string | null
}

/** Reads whether the nodes have removed a deleted load balancer. The controllers implement it, surfaces call it. */
export interface WithdrawalReader {
  /** @param loadBalancerId the id of a deleted load balancer, or one that never existed */
  withdrawal(loadBalancerId: string): Withdrawal
  /** Calls the listener when a withdrawal may have progressed. @returns the unsubscribe function */
  onChange(listener: () => void): () => void
}
