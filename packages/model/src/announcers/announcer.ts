import type { AnnouncerSettings } from './settings.ts'

/**
 * What an announcer promises, for code that must know more of it than its name. Pure data: the control plane, the
 * command line and the Kubernetes kinds ask these fields and compare no name.
 */
export interface AnnouncerDescriptor {
  /** `NodeGroup.announcer`, and `Announce.via` of what it announces. */
  readonly name: string
  /**
   * Which node announces an address of the fabric. `chosen-node`: the one that the planner chose; the planner moves the
   * address when that node dies. `shard-master`: the node that the others elected for the address's shard.
   * `every-node`: all of the group at once, by telling routers; where one node must carry the load balancer, the master
   * of its shard.
   */
  readonly announcedBy: 'chosen-node' | 'shard-master' | 'every-node'
  /**
   * The announcer that elects the masters of the group's shards, and that announces addresses inside tenant networks.
   * Null: the group has no shards, and the announcer does that itself. Only `chosen-node` does without shards.
   */
  readonly electedBy: string | null
  /** The settings of its own. Left out: it has none. */
  readonly settings?: AnnouncerSettings
  /** Where it makes addresses known, as words behind its name. */
  readonly place: string
}
