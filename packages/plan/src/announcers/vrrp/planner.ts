import type { Announce } from '@spout/model'
import type { AnnouncerPart, AnnouncerPlanner } from '../announcer-planner.ts'
import { planVrrp, type VrrpPart } from './plan-vrrp.ts'

export interface VrrpTerms {
  readonly via: 'vrrp'
}

/**
 * The master of a shard announces the addresses in it. Every node has the same entries, and settings for its own part.
 */
export const vrrpPlanner: AnnouncerPlanner<VrrpTerms> = {
  terms: () => ({ via: 'vrrp' }),
  announce: (_terms, _vip, shard) => byShard(shard),
  announceInside: byShard,
  parts: ({ group, nodes, heldBack = new Set(), handOver = null, unready = new Set() }) =>
    new Map([...planVrrp(group, nodes, heldBack, handOver, unready)].map(([id, part]) => [id, partOf(part)])),
  canTakeOver: ({ shards }) =>
    shards.length > 0 && shards.every(({ state }) => state === 'master' || state === 'backup'),
}

function byShard(shard: number | null): Announce {
  if (shard === null) throw new RangeError('an address without a shard has no master that announces it')
  return { via: 'vrrp', shard }
}

const partOf = (part: VrrpPart): AnnouncerPart =>
  'problem' in part
    ? { fields: {}, problems: [part.problem], againAtMs: null }
    : { fields: { vrrp: part.settings }, problems: [], againAtMs: null }
