import type { ShardOwnership } from '../announcer-registry.ts'
import type { VrrpAnnouncer } from './vrrp-announcer.ts'

/** What the elections of this node's shards say of who owns them. */
export const shardOwnership = (vrrp: Pick<VrrpAnnouncer, 'shards' | 'onShardChange'>): ShardOwnership => ({
  mastered: () => new Set(vrrp.shards().flatMap(({ shard, state }) => (state === 'master' ? [shard] : []))),
  hasReleased: (number) => {
    const state = vrrp.shards().find(({ shard }) => shard === number)?.state
    return state === 'backup' || state === 'fault'
  },
  onChange: (listener) => vrrp.onShardChange(listener),
})
