import type { NodeConnection } from './status.ts'

/** How far nodes are with removing a deleted load balancer. Soft state: after a restart the nodes report it again. */
export interface Withdrawal {
  /** The project that owned it; null when that is no longer known. */
  readonly projectId: string | null
  /** Every connected node confirmed that it has removed every address and listener. */
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
  /** The node's own message for why it failed; null when it has not answered. */
  readonly message: string | null
}

/** Answers whether nodes have removed a deleted load balancer. The controllers implement it, surfaces read it. */
export interface WithdrawalReader {
  /** @param loadBalancerId an id that no load balancer has now, whether or not one ever had it */
  withdrawal(loadBalancerId: string): Withdrawal
  /** Calls back when a withdrawal may have progressed; returns the unsubscribe. */
  onChange(listener: () => void): () => void
}
