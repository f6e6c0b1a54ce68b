import type { GroupBgp } from '@spout/model'
import type { AnnouncerPlanner } from '../announcer-planner.ts'
import { vrrpPlanner } from '../vrrp/planner.ts'
import { type AdvertisementsByPool, advertisementsByPool } from './advertisements.ts'
import { planBgp } from './plan-bgp.ts'

export interface BgpTerms {
  readonly via: 'bgp'
  readonly policy: GroupBgp['policy']
  readonly advertisements: AdvertisementsByPool
}

/**
 * Every node advertises fabric addresses to its routers. Addresses inside tenant networks go by VRRP: no router knows
 * them.
 */
export const bgpPlanner: AnnouncerPlanner<BgpTerms> = {
  terms: (group, advertisements) => ({
    via: 'bgp',
    policy: group?.bgp?.policy ?? 'healthy',
    advertisements: advertisementsByPool(advertisements),
  }),
  announce: ({ policy, advertisements: { byPool, otherwise } }, { poolId }, shard) => ({
    via: 'bgp',
    advertisement: byPool[poolId ?? ''] ?? otherwise,
    policy,
    shard,
  }),
  announceInside: vrrpPlanner.announceInside,
  parts: (input) => {
    const { group, nodes, heldBack = new Set() } = input
    const { bgp, id: groupId } = group
    if (bgp === null) return new Map()
    return new Map(
      nodes.map((node) => {
        const { settings, ...part } = planBgp({ ...input, bgp, groupId, node, heldBack: heldBack.has(node.id) })
        return [node.id, { fields: { bgp: settings }, ...part }]
      }),
    )
  },
  // No router sends packets to a node without a session. After a start, a session takes a second or two.
  canTakeOver: ({ bgpSessions }) => bgpSessions.some(({ state }) => state === 'established'),
}
