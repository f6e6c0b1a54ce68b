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
  /** The announcer's own fields of the entry. Empty: the node takes no part. */
  readonly fields: Partial<AnnouncerParts>
  /** Problems that keep the node from announcing as its group requires. */
  readonly problems: readonly Reason[]
  /** When time alone changes the part next, in milliseconds since 1970. Null: it does not. */
  readonly againAtMs: number | null
}

/**
 * Plans for one announcer: announcements of addresses, and the nodes' parts in the group. Pure.
 * @typeParam Terms plain data that all announcements of a group are made of; `via` names the announcer
 */
export interface AnnouncerPlanner<Terms> {
  /**
   * The terms of a group. While they are equal, so are the announcements of the group's load balancers, except for
   * their shards.
   * @param group null: there is no group
   */
  terms(group: GroupSettings | null, advertisements: readonly BgpAdvertisementIntent[]): Terms
  /**
   * How a node announces an address of the fabric.
   * @param shard the shard whose master alone announces it. Null: the announcement does not depend on a shard
   */
  announce(terms: Terms, vip: AnnouncedVip, shard: number | null): Announce
  /** How a node announces an address inside a tenant network: a VIP, or an address that the nodes share. */
  announceInside(shard: number | null): Announce
  /** The nodes' parts in the group, by node id. Absent: the announcer needs none. */
  parts?(input: GroupPlanInput): ReadonlyMap<string, AnnouncerPart>
  /**
   * Whether a node with this status could announce the addresses that another gives up. Absent: every connected node
   * could.
   */
  canTakeOver?(status: AnnouncerStatus): boolean
}

/** What a node last reported of its announcers. */
export type AnnouncerStatus = Pick<NodeStatus, 'shards' | 'bgpSessions'>
