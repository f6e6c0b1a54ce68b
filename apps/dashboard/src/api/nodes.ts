import type { BgpPeer, DrainPreview, Node, NodeGroup, NodeStatus, PlannedMove } from '@spout/model'
import { ask } from './ask.ts'

interface List<T> {
  readonly items: readonly T[]
}

/** A node as the native API shows it. */
export interface ShownNode extends Node {
  readonly nodeGroupName: string | null
  readonly announcer: string | null
  readonly status: NodeStatus
}

/** How far the moves are that were asked for last. */
export interface RebalanceProgress {
  readonly askedAt: string | null
  readonly steps: readonly RebalanceStep[]
}

export interface RebalanceStep extends PlannedMove {
  readonly state: 'done' | 'moving' | 'waiting' | 'failed'
  readonly message: string | null
}

export const listNodes = async (signal: AbortSignal): Promise<readonly ShownNode[]> =>
  (await ask<List<ShownNode>>('GET', '/nodes', { signal })).items

export const listNodeGroups = async (signal: AbortSignal): Promise<readonly NodeGroup[]> =>
  (await ask<List<NodeGroup>>('GET', '/node-groups', { signal })).items

export const listBgpPeers = async (signal: AbortSignal): Promise<readonly BgpPeer[]> =>
  (await ask<List<BgpPeer>>('GET', '/bgp-peers', { signal })).items

export const setScheduling = (id: string, scheduling: Node['scheduling']): Promise<Node> =>
  ask('PUT', `/nodes/${id}/scheduling`, { body: { scheduling } })

/** What the drain of a node would do. Nothing is stored. */
export const previewDrain = (id: string, signal: AbortSignal): Promise<DrainPreview> =>
  ask('PUT', `/nodes/${id}/scheduling?dryRun=true`, { body: { scheduling: 'draining' }, signal })

/** Moves that spread the shards evenly. @param dryRun true: they are only said */
export const rebalance = async (groupId: string, dryRun: boolean): Promise<readonly PlannedMove[]> =>
  (await ask<{ moves: readonly PlannedMove[] }>('POST', `/node-groups/${groupId}/rebalance`, { body: { dryRun } }))
    .moves

export const readRebalance = (groupId: string, signal: AbortSignal): Promise<RebalanceProgress> =>
  ask('GET', `/node-groups/${groupId}/rebalance`, { signal })
