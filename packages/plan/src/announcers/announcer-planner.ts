import type {
  Announce,
  AnnouncerParts,
  BgpAdvertisementIntent,
  GroupSettings,
  LoadBalancer,
  NodeStatus,
} from '@spout/model'
import type { Reason } from '../reason.ts'
import type { GroupPlanInput } from './group-plan-input.ts'

export type AnnouncedVip = Pick<LoadBalancer['vips'][number], 'scope' | 'poolId'>

/** One announcer's part of a node's entry `group`. */
export interface AnnouncerPart {
  /** Its own fields of the entry; empty when the node takes no part. */
  readonly fields: Partial<AnnouncerParts>
  /** What keeps the node from announcing as its group shall. */
  readonly problems: readonly Reason[]
  /** Milliseconds since 1970 when it changes by time alone; null when it does not. */
  readonly againAtMs: number | null
}

/**
 * How one announcer is planned. Pure.
 * @typeParam Terms plain data, `via` and what else every announcement of a group is made of
 */
export interface AnnouncerPlanner<Terms> {
  /**
   * While they stay the same, so do the announcements of the group's load balancers, but for their shards.
   * @param group null where there is no group
   */
  terms(group: GroupSettings | null, advertisements: readonly BgpAdvertisementIntent[]): Terms
  /**
   * How a node announces an address of the fabric.
   * @param shard whose master alone announces it; null where that is not so
   */
  announce(terms: Terms, vip: AnnouncedVip, shard: number | null): Announce
  /** The same for an address inside a tenant network, a VIP or one that the nodes share. */
  announceInside(shard: number | null): Announce
  /** Nodes' parts in the group, by id. Left out: it has none of its own. */
  parts?(input: GroupPlanInput): ReadonlyMap<string, AnnouncerPart>
  /** Whether a node with this status could announce what another gives up. Left out: every connected node could. */
  canTakeOver?(status: AnnouncerStatus): boolean
}

/** What a node last reported of its announcers. */
export type AnnouncerStatus = Pick<NodeStatus, 'shards' | 'bgpSessions'>
