/** Who announces what now, as the nodes tell it. Soft, like every status. */
import type { ShardState } from './node-report.ts'

/** A shard of a node group over all its nodes. */
export interface ShardStatus {
  readonly nodeGroupId: string
  readonly number: number
  /** The node whose claim to be master is the newest; null when there is none. */
  readonly ownerNodeId: string | null
  /** `settled`: one master. `moving`: the last master is gone, for a moment. The other two are alarms. */
  readonly state: 'settled' | 'moving' | 'no-owner' | 'two-owners'
  /** Every node that says it is master. */
  readonly masterNodeIds: readonly string[]
  readonly nodes: readonly { readonly nodeId: string; readonly state: ShardState; readonly since: string }[]
}

/** One line of an address's history. */
export interface VipMove {
  /** RFC 3339; the node's clock where the node told it. */
  readonly at: string
  /** `taken`: `nodeId` announces from now on. `released`: it does not any more. */
  readonly event: 'taken' | 'released'
  readonly nodeId: string
  /** Who announced before; null when nobody or not known. Always null where every node announces. */
  readonly fromNodeId: string | null
  /** A word for machines; null when the node gave none. */
  readonly reason: string | null
  /** Milliseconds between the loss and the takeover; null when one of them is not known. */
  readonly durationMs: number | null
}

/** Answers who announces what. Implemented by the controllers, read by surfaces. */
export interface OwnershipReader {
  /** Shards of a group in order of their numbers, as far as a node told of one. */
  shards(nodeGroupId: string): readonly ShardStatus[]
  shard(nodeGroupId: string, number: number): ShardStatus | null
  /** Moves of the load balancer's addresses, newest last; `address` one of its VIPs. A bounded number is kept. */
  history(loadBalancerId: string, address: string): readonly VipMove[]
}
