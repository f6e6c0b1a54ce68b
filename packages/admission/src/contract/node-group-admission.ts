import { DEFAULT_ANNOUNCER, type NodeGroup, nodeGroup, type PlannedMove } from '@spout/model'
import { z } from 'zod'
import { settingsChangeShape, settingsDraftShape } from './announcer-settings.ts'

export const nodeGroupDraft = z.strictObject({
  name: nodeGroup.shape.name.min(1),
  description: nodeGroup.shape.description.default(''),
  announcer: nodeGroup.shape.announcer.default(DEFAULT_ANNOUNCER),
  ...settingsDraftShape,
  /** Null or absent: as the agents' settings say. */
  fabric: nodeGroup.shape.fabric.nullable(),
  secondChanceSeconds: nodeGroup.shape.secondChanceSeconds,
  rebalanceAfterSeconds: nodeGroup.shape.rebalanceAfterSeconds,
  /** Null opens the group to all projects. Absent: closed, except for the default group. */
  projectIds: nodeGroup.shape.projectIds.unwrap().nullable().optional(),
})
export type NodeGroupDraft = z.input<typeof nodeGroupDraft>

/** Fields that are absent keep their values. */
export const nodeGroupChange = z
  .strictObject({
    name: nodeGroup.shape.name.min(1),
    description: nodeGroup.shape.description,
    announcer: nodeGroup.shape.announcer,
    ...settingsChangeShape,
    /** Null: as the agents' settings say. Only of a group without nodes. */
    fabric: nodeGroup.shape.fabric.nullable(),
    secondChanceSeconds: nodeGroup.shape.secondChanceSeconds.unwrap(),
    rebalanceAfterSeconds: nodeGroup.shape.rebalanceAfterSeconds,
    /** Null opens the group to all projects. */
    projectIds: nodeGroup.shape.projectIds.unwrap().nullable(),
  })
  .partial()
export type NodeGroupChange = z.input<typeof nodeGroupChange>

/** Writes of node groups. */
export interface NodeGroupAdmission {
  /** Assigns router ids to shards for which the draft names none. */
  createNodeGroup(draft: NodeGroupDraft): Promise<NodeGroup>
  changeNodeGroup(id: string, change: NodeGroupChange): Promise<NodeGroup>
  /**
   * Requests planned moves of shards, in this order. `moves` may run again on a newer version of the group, so it must be
   * pure. @throws SpoutError InvalidField for a group without shards
   */
  rebalanceNodeGroup(id: string, moves: (group: NodeGroup) => readonly PlannedMove[]): Promise<NodeGroup>
  /** Refused while anything refers to it. */
  deleteNodeGroup(id: string): Promise<void>
}
