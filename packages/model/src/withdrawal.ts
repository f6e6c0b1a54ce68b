import type { NodeConnection } from './status.ts'

/** How far nodes are with a load balancer that was deleted. Soft, as every status: after a restart nodes tell it again. */
export interface Withdrawal {
  /** The project it belonged to; null when that is not known any more. */
  readonly projectId: string | null
  /** Every node that is heard of has confirmed that it holds nothing of it: no address, no listener. */
  readonly withdrawn: boolean
  /** It takes longer than anybody should wait. */
  readonly overdue: boolean
  /** Nodes that have yet to confirm, and what they say. */
  readonly waitingFor: readonly NodeToWithdraw[]
}

export interface NodeToWithdraw {
  readonly nodeId: string
  readonly nodeName: string
  readonly connection: NodeConnection
  /** The node's own words for why it did not work; null when it has not answered. */
  readonly message: string | null
}

/** Answers whether nodes have let go of what was deleted. Implemented by the controllers, read by surfaces. */
export interface WithdrawalReader {
  /** Of an id that no load balancer has any more, whether or not one ever had it. */
  withdrawal(loadBalancerId: string): Withdrawal
  /** Calls back when a withdrawal may have come further; returns the unsubscribe. */
  onChange(listener: () => void): () => void
}
