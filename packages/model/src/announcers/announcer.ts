import type { AnnouncerSettings } from './settings.ts'

/**
 * The properties of an announcer, as plain data. The control plane, the command line and the Kubernetes kinds decide by
 * these fields, never by an announcer's name.
 */
export interface AnnouncerDescriptor {
  /** `NodeGroup.announcer`, and `Announce.via` of what it announces. */
  readonly name: string
  /**
   * Which node announces an address of the fabric. `chosen-node`: the one that the planner chose; the planner moves the
   * address when that node dies. `shard-master`: the node that the group elected master of the address's shard.
   * `every-node`: all nodes of the group at once, to routers. If one node must carry the load balancer, only the master
   * of its shard announces.
   */
  readonly announcedBy: 'chosen-node' | 'shard-master' | 'every-node'
  /**
   * The announcer that elects the masters of the group's shards and announces addresses inside tenant networks. Null:
   * the group has no shards, and this announcer announces those addresses itself. Only `chosen-node` needs no shards.
   */
  readonly electedBy: string | null
  /** Its settings in a node group. Absent: it has none. */
  readonly settings?: AnnouncerSettings
  /** Where it announces addresses, in words that follow its name: `on the segment`, `to routers`. */
  readonly place: string
}
