/** The node that announces each address now, as the nodes report it. Soft state. */
import type { ShardState } from './node-report.ts'

/** The state of a shard over all nodes of its group. */
export interface ShardStatus {
  readonly nodeGroupId: string
  readonly number: number
  /** The node that became master last; null when there is none. */
  readonly ownerNodeId: string | null
  /** `settled`: one master. `moving`: the last master stopped a moment ago. `no-owner` and `two-owners` are alarms. */
  readonly state: 'settled' | 'moving' | 'no-owner' | 'two-owners'
  /** All nodes that report to be master. */
  readonly masterNodeIds: readonly string[]
  readonly nodes: readonly { readonly nodeId: string; readonly state: ShardState; readonly since: string }[]
}

/** One event in an address's history. */
export interface VipMove {
  /** RFC 3339, by the node's clock if the node reported it. */
  readonly at: string
  /** `taken`: `nodeId` announces it from now on. `released`: `nodeId` no longer does. */
  readonly event: 'taken' | 'released'
  readonly nodeId: string
  /** The node that announced it before. Null if there was none, if it is unknown, or if every node announces. */
  readonly fromNodeId: string | null
  /** A code; null when the node gave none. */
  readonly reason: string | null
  /** Milliseconds between loss and takeover; null if one of them is unknown. */
  readonly durationMs: number | null
}

/** Answers who announces what. The controllers implement it, surfaces read it. */
export interface OwnershipReader {
  /** The shards of a group that nodes reported, by number. */
  shards(nodeGroupId: string): readonly ShardStatus[]
  shard(nodeGroupId: string, number: number): ShardStatus | null
  /** Moves of one of the load balancer's VIPs, newest last. A limited number is kept. */
  history(loadBalancerId: string, address: string): readonly VipMove[]
}
