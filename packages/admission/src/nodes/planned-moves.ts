import type { Node, NodeGroup } from '@spout/model'
import { type AdmissionContext, find, putOver, timestampOf, transact } from '../claims/context.ts'

/** As `PlannedMoveAdmission.beginDrain`. */
export async function beginDrain(context: AdmissionContext, nodeId: string, drainedSince: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'node', nodeId, 'node')
    const { scheduling, drainedSince: present, drainBegunAt } = stored.value
    // Absent means begun (`Node.drainBegunAt`).
    if (scheduling !== 'draining' || present !== drainedSince || drainBegunAt !== null) return NOTHING
    const begun: Node = { ...stored.value, drainBegunAt: timestampOf(context.now()) }
    return { writes: [putOver('node', stored, begun)], result: undefined }
  })
}

/** As `PlannedMoveAdmission.beginMove`. */
export async function beginMove(
  context: AdmissionContext,
  nodeGroupId: string,
  askedAt: string,
  shard: number,
): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'nodeGroup', nodeGroupId, 'node group')
    const { rebalance } = stored.value
    if (rebalance === undefined || rebalance.askedAt !== askedAt) return NOTHING
    const { begun = [], moves } = rebalance
    if (begun.includes(shard) || !moves.some((move) => move.shard === shard)) return NOTHING
    const next: NodeGroup = { ...stored.value, rebalance: { ...rebalance, begun: [...begun, shard] } }
    return { writes: [putOver('nodeGroup', stored, next)], result: undefined }
  })
}

const NOTHING = { writes: [], result: undefined } as const
