import { beforeEach, expect, it } from 'vitest'
import type { Announcement } from '../contracts/announcer.ts'
import { AnnouncerRegistry } from './announcer-registry.ts'
import { shardOwnership } from './vrrp/ownership.ts'
import type { VrrpAnnouncer } from './vrrp/vrrp-announcer.ts'

const VIP = '198.51.100.16'
const following: Announcement = {
  address: VIP,
  scope: 'fabric',
  domain: 1,
  by: { via: 'bgp', advertisement: 1, policy: 'always', shard: 2 },
}
const everywhere: Announcement = {
  ...following,
  address: '198.51.100.17',
  by: { via: 'bgp', advertisement: 1, policy: 'always', shard: null },
}

let done: string[]
let state: 'master' | 'backup' | 'fault' | 'stopped'
let shardChanged: () => void
/** How often the registry asked which shards this node owns. */
let asked: number
/** Called while BGP changes something. */
let meanwhile: () => void
let node: AnnouncerRegistry

/** An announcer that records its calls. */
const recorded = (name: string) => ({
  name,
  adopt: async (previous: readonly Announcement[]) => {
    done.push(`${name} adopts ${addresses(previous)}`)
  },
  apply: async (wanted: readonly Announcement[]) => wanted.map((announcement) => ({ announcement, error: null })),
  change: async ({ come, go }: Record<'come' | 'go', readonly Announcement[]>) => {
    done.push(`${name} +${addresses(come)} -${addresses(go)}`)
    meanwhile()
    return come.map((announcement) => ({ announcement, error: null }))
  },
  observe: async () => [],
  close: async () => {},
})
const addresses = (announcements: readonly Announcement[]): string => announcements.map(({ address }) => address).join()

beforeEach(() => {
  done = []
  asked = 0
  meanwhile = () => {}
  state = 'backup'
  const vrrp = {
    ...recorded('vrrp'),
    shards: () => {
      asked++
      return [{ shard: 2, state }]
    },
    onShardChange: (listener: () => void) => {
      shardChanged = listener
      return () => {}
    },
  }
  const ownership = shardOwnership(vrrp as unknown as Pick<VrrpAnnouncer, 'shards' | 'onShardChange'>)
  node = new AnnouncerRegistry([recorded('l2'), vrrp, { ...recorded('bgp'), followsShards: true }], ownership)
})

it('withdraws at once what it lost while no agent ran, and nothing else', async () => {
  await node.adopt([following, everywhere])
  expect(done.filter((text) => text.startsWith('bgp'))).toEqual([`bgp adopts ${VIP},198.51.100.17`, `bgp + -${VIP}`])
})

it('changes nothing when it adopts what it still has', async () => {
  state = 'master'
  await node.adopt([following, everywhere])
  expect(done.filter((text) => text.startsWith('bgp'))).toEqual([`bgp adopts ${VIP},198.51.100.17`])
})

it('announces by BGP while it is master of the shard, and takes the address on all the same', async () => {
  const outcomes = await node.change({ come: [following], go: [] }, new AbortController().signal)
  expect(outcomes).toEqual([{ announcement: following, error: null }])
  expect(done).toEqual([])
  for (const next of ['master', 'backup'] as const) {
    state = next
    shardChanged()
  }
  state = 'master'
  shardChanged()
  await expect.poll(() => done).toEqual([`bgp +${VIP} -`])
  state = 'backup'
  shardChanged()
  await expect.poll(() => done).toEqual([`bgp +${VIP} -`, `bgp + -${VIP}`])
})

it('asks once whose the shards are, however many addresses follow them', async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ ...following, address: `198.51.100.${index + 20}` }))
  await node.change({ come: many, go: [] }, new AbortController().signal)
  expect(asked).toBe(1)
  await node.apply(many, new AbortController().signal)
  expect(asked).toBe(2)
  await node.observe()
  expect(asked).toBe(3)
})

it('announces what it becomes master of while it changes something else', async () => {
  meanwhile = () => {
    meanwhile = () => {}
    state = 'master'
    shardChanged()
  }
  await node.change({ come: [following, everywhere], go: [] }, new AbortController().signal)
  await expect.poll(() => done).toEqual(['bgp +198.51.100.17 -', `bgp +${VIP} -`])
})

it('tells of a shard that was handed over whether it has gone, and whose addresses went with it', async () => {
  const signal = new AbortController().signal
  const byVrrp: Announcement = { ...following, address: '198.51.100.18', domain: 2, by: { via: 'vrrp', shard: 2 } }
  const elsewhere: Announcement = { ...byVrrp, address: '198.51.100.19', domain: 3, by: { via: 'vrrp', shard: 1 } }
  const inside: Announcement = { ...byVrrp, address: '10.0.0.1', domain: 4, scope: 'tenant' }
  await node.apply([following, { ...everywhere, domain: 5 }, byVrrp, elsewhere, inside], signal)
  expect([...node.domainsOf(2)].sort()).toEqual([1, 2, 4])
  await node.change({ come: [], go: [byVrrp] }, signal)
  expect([...node.domainsOf(2)].sort()).toEqual([1, 4])
  const released = (['master', 'backup', 'fault', 'stopped'] as const).map((next) => {
    state = next
    return node.hasReleasedShard(2)
  })
  expect(released).toEqual([false, true, true, false])
  // A shard that no announcer knows does not count as released.
  expect(node.hasReleasedShard(7)).toBe(false)
})

it('hands over what its announcers can hand over', async () => {
  const signal = new AbortController().signal
  const handing = { ...recorded('b'), handOverAll: async () => void done.push('b hands over') }
  const ownership = { mastered: () => new Set<number>(), hasReleased: () => false, onChange: () => () => {} }
  await new AnnouncerRegistry([recorded('a'), handing], ownership).handOverAll(signal)
  expect(done).toEqual(['b hands over'])
})

it.each([
  ['it announces something', [following], [], false],
  ['an announcer that announces nothing still attracts', [], [true], false],
  ['none announces or attracts', [], [false], true],
] as const)('whether it owns nothing when %s', async (_when, observed, attracting, nothing) => {
  const ownership = { mastered: () => new Set<number>(), hasReleased: () => false, onChange: () => () => {} }
  const registry = new AnnouncerRegistry(
    [
      { ...recorded('a'), observe: async () => observed },
      ...attracting.map((attracts) => ({
        ...recorded('b'),
        // Its `attracts` decides, not what it announces.
        observe: async () => [everywhere],
        attracts: () => attracts,
      })),
    ],
    ownership,
  )
  expect(await registry.ownsNothing()).toBe(nothing)
  expect(await registry.hasReleasedAll()).toBe(nothing)
})

it.each([true, false])('an announcer with a part says whether all is released: %s', async (released) => {
  const ownership = { mastered: () => new Set<number>(), hasReleased: () => false, onChange: () => () => {} }
  const asked = { ...recorded('a'), observe: async () => [following], hasReleased: () => null }
  const registry = new AnnouncerRegistry([asked, { ...recorded('b'), hasReleased: () => released }], ownership)
  expect(await registry.hasReleasedAll()).toBe(released)
})
