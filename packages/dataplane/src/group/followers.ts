import type { AnnouncerRegistry } from '../announcers/announcer-registry.ts'
import type { GroupFollower } from '../contracts/group-follower.ts'
import type { FlowReplication } from '../flows/flow-replication.ts'
import type { ProxyDrain } from '../second-chance/proxy-drain.ts'
import type { SecondChance } from '../second-chance/second-chance.ts'
import type { ShardProxyDrains } from '../second-chance/shard-proxy-drains.ts'
import { usualHops } from '../second-chance/usual-hops.ts'

/** Configures with which nodes this node replicates its flows. */
export const flowsOfGroup = (flows: Pick<FlowReplication, 'configure' | 'close'>): GroupFollower => ({
  follow: (entry) => flows.configure(entry?.flows ?? null),
  close: () => flows.close(),
})

/**
 * Configures where this node forwards packets for connections that it does not have: as a planned move says, otherwise to
 * the nodes with which it elects owners.
 */
export const secondChanceOfGroup = (chance: Pick<SecondChance, 'configure'>): GroupFollower => ({
  follow: (entry) => chance.configure(entry?.secondChance ?? null, usualHops(entry?.vrrp ?? null)),
  // It also follows load balancers, and is closed with those followers.
  close: async () => {},
})

/** Drains this node's proxies while it gives up all its addresses. */
export const proxyDrainOfGroup = (
  drain: Pick<ProxyDrain, 'configure' | 'report' | 'onChange' | 'close'>,
  announcers: Pick<AnnouncerRegistry, 'ownsNothing' | 'hasReleasedAll'>,
): GroupFollower => ({
  follow: async (entry) =>
    drain.configure(entry?.secondChance ?? null, {
      hasReleased: () => announcers.hasReleasedAll(),
      ownsNothing: () => announcers.ownsNothing(),
    }),
  report: async () => ({ departure: drain.report }),
  onReport: (listener) => drain.onChange((report) => listener({ departure: report })),
  close: () => drain.close(),
})

/** Drains the proxies of single shards that this node hands over while it stays in the group. */
export const shardProxyDrainsOfGroup = (
  drains: Pick<ShardProxyDrains, 'configure' | 'close'>,
  announcers: Pick<AnnouncerRegistry, 'hasReleasedShard' | 'domainsOf'>,
): GroupFollower => ({
  follow: async (entry) =>
    drains.configure(entry?.secondChance ?? null, {
      hasReleased: (shard) => announcers.hasReleasedShard(shard),
      domainsOf: (shard) => announcers.domainsOf(shard),
    }),
  close: () => drains.close(),
})
