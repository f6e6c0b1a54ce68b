import type { Announce } from './registry.ts'

/** The shard whose master alone announces the address. Null: the announcement does not depend on a shard. */
export const shardOfAnnounce = (announce: Announce): number | null => ('shard' in announce ? announce.shard : null)

/** Whether the node announces the address only while a member of its load balancer is up. */
export const awaitsMember = (announce: Announce): boolean => 'policy' in announce && announce.policy === 'healthy'
