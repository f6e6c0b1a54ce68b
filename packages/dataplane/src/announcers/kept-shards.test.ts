import type { VrrpSettings } from '@spout/model/node-state'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, describe, expect, it } from 'vitest'
import { KeptShards } from './kept-shards.ts'

let owned: Set<number>
let changed: () => void
let clock: FakeClock
let kept: KeptShards
let told: number

const settings = (fields: Partial<VrrpSettings> = {}): { readonly vrrp: VrrpSettings } => ({
  vrrp: {
    source: '192.0.2.1',
    peers: ['192.0.2.2'],
    advertMs: 20,
    missedAdverts: 4,
    shards: [
      { number: 1, routerId: 1, priority: 100 },
      { number: 2, routerId: 2, priority: 100 },
    ],
    yield: false,
    ...fields,
  },
})

const own = (...shards: readonly number[]) => {
  owned = new Set(shards)
  changed()
}
const mastered = () => [...kept.mastered()].sort()

beforeEach(() => {
  owned = new Set([1, 2])
  told = 0
  clock = new FakeClock()
  kept = new KeptShards({
    clock,
    ownership: {
      mastered: () => owned,
      hasReleased: (shard) => !owned.has(shard),
      onChange: (listener) => {
        changed = listener
        return () => {}
      },
    },
  })
  kept.onChange(() => told++)
})

describe('shards that a node gave up', () => {
  it('are kept for two seconds if it is drained, then it is told', async () => {
    await kept.follow(settings({ yield: true }))
    own()
    expect(mastered()).toEqual([1, 2])
    expect(kept.hasReleased(1)).toBe(false)
    await clock.advance(1999)
    expect(mastered()).toEqual([1, 2])
    expect(told).toBe(1)
    await clock.advance(1)
    expect(mastered()).toEqual([])
    expect(kept.hasReleased(1)).toBe(true)
    expect(told).toBe(3)
  })

  it('are kept one by one if it hands one over', async () => {
    const { vrrp } = settings()
    await kept.follow(
      settings({ shards: vrrp.shards.map((shard) => (shard.number === 2 ? { ...shard, handOver: 'now' } : shard)) }),
    )
    own(1)
    expect(mastered()).toEqual([1, 2])
    own()
    expect(mastered()).toEqual([2])
  })

  it('are not kept if they were lost', async () => {
    await kept.follow(settings())
    own(1)
    expect(mastered()).toEqual([1])
    expect(kept.hasReleased(2)).toBe(true)
  })

  it('are its own again when they come back', async () => {
    await kept.follow(settings({ yield: true }))
    own()
    await kept.follow(settings())
    own(1, 2)
    await clock.advance(2000)
    expect(mastered()).toEqual([1, 2])
    own()
    expect(mastered()).toEqual([])
  })
})
