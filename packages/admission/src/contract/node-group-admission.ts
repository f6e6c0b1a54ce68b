import { groupBgpSettings, type NodeGroup, nodeGroup, type PlannedMove, vrrpSettings } from '@spout/model'
import { z } from 'zod'

const optionalVrrp = z
  .strictObject({
    profile: vrrpSettings.shape.profile.unwrap(),
    shards: vrrpSettings.shape.shards.unwrap(),
    routerIds: vrrpSettings.shape.routerIds.unwrap(),
    excludedRouterIds: vrrpSettings.shape.excludedRouterIds.unwrap(),
  })
  .partial()
const optionalBgp = groupBgpSettings.partial({ policy: true, drainSeconds: true })

export const nodeGroupDraft = z.strictObject({
  name: nodeGroup.shape.name.min(1),
  description: nodeGroup.shape.description.default(''),
  announcer: nodeGroup.shape.announcer.default('vrrp'),
  vrrp: optionalVrrp.default({}),
  bgp: optionalBgp.nullable().default(null),
  secondChanceSeconds: nodeGroup.shape.secondChanceSeconds,
  rebalanceAfterSeconds: nodeGroup.shape.rebalanceAfterSeconds,
  /** Null opens it to all. Left out, it is closed, unless it is the one that carries what names none. */
  projectIds: nodeGroup.shape.projectIds.unwrap().nullable().optional(),
})
export type NodeGroupDraft = z.input<typeof nodeGroupDraft>

/** What is not named stays as it is. */
export const nodeGroupChange = z
  .strictObject({
    name: nodeGroup.shape.name.min(1),
    description: nodeGroup.shape.description,
    announcer: nodeGroup.shape.announcer,
    vrrp: optionalVrrp,
    bgp: groupBgpSettings
      .extend({
        policy: groupBgpSettings.shape.policy.unwrap(),
        drainSeconds: groupBgpSettings.shape.drainSeconds.unwrap(),
      })
      .partial()
      .nullable(),
    secondChanceSeconds: nodeGroup.shape.secondChanceSeconds.unwrap(),
    rebalanceAfterSeconds: nodeGroup.shape.rebalanceAfterSeconds,
    /** Null opens it to all. */
    projectIds: nodeGroup.shape.projectIds.unwrap().nullable(),
  })
  .partial()
export type NodeGroupChange = z.input<typeof nodeGroupChange>

/** Writes of node groups. */
export interface NodeGroupAdmission {
  /** Router ids that the draft does not name are given out. */
  createNodeGroup(draft: NodeGroupDraft): Promise<NodeGroup>
  changeNodeGroup(id: string, change: NodeGroupChange): Promise<NodeGroup>
  /** Asks for planned moves of shards, in this order. @throws SpoutError InvalidField for a group without shards */
  rebalanceNodeGroup(id: string, moves: readonly PlannedMove[]): Promise<NodeGroup>
  /** Refused while anything names it. */
  deleteNodeGroup(id: string): Promise<void>
}
