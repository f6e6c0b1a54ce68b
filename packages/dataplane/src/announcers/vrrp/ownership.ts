import type { ShardOwnership } from '../announcer-registry.ts'
import type { VrrpAnnouncer } from './vrrp-announcer.ts'

/** The owners of this node's shards, according to its elections. */
export const shardOwnership = (vrrp: Pick<VrrpAnnouncer, 'shards' | 'onShardChange'>): ShardOwnership => ({
  mastered: () => new Set(vrrp.shards().flatMap(({ shard, state }) => (state === 'master' ? [shard] : []))),
  hasReleased: (number) => {
    const state = vrrp.shards().find(({ shard }) => shard === number)?.state
    return state === 'backup' || state === 'fault'
  },
  onChange: (listener) => vrrp.onShardChange(listener),
})
