import { type FlowChange, flowChanges, type PoolHealth } from '@spout/plan/member-fates'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { member, pool } from '../testing/entries.ts'

const [a, b, c] = ['a', 'b', 'c'].map((id, n) => member(id, `10.0.0.${n + 1}`))
const health = (members: Parameters<typeof pool>[1], down: readonly string[] = [], fields = {}): PoolHealth => ({
  pool: pool(1, members, fields),
  down: new Set(down),
})
const text = (changes: readonly FlowChange[]): readonly string[] =>
  changes.map((change) => {
    const { end, what } = change
    const more = what === 'lose' ? ` all=${change.all}` : what === 'drain' ? ` ${change.afterMs}` : ''
    return `${what} ${end.address.slice(-1)}${more}`
  })
const all = [a!, b!, c!]
const idle = (id: typeof a) => ({ ...id!, weight: 0 })

describe('flowChanges', () => {
  it.each<[string, PoolHealth | null, PoolHealth | null, readonly string[], readonly string[]]>([
    ['nothing differs', health(all), health(all), [], []],
    ['a member goes down', health(all), health(all, ['b']), ['lose 2 all=true'], ['lose 2 all=false']],
    [
      'it is to reset its connections',
      health(all),
      health(all, ['b'], { resetOnDown: true }),
      ['lose 2 all=true'],
      ['lose 2 all=true'],
    ],
    ['it stays down', health(all, ['b']), health(all, ['b']), [], []],
    ['it comes back', health(all, ['b']), health(all), ['keep 2'], ['keep 2']],
    ['too many go down for that to be true', health(all), health(all, ['b', 'c'], { panicThreshold: 50 }), [], []],
    ['a member is removed', health(all), health([a!, c!]), ['drain 2 300000'], ['drain 2 300000', 'lose 2 all=false']],
    [
      'the pool has a deadline of its own',
      health(all, [], { drainMs: 7 }),
      health([a!, c!], [], { drainMs: 9 }),
      ['drain 2 7'],
      ['drain 2 7', 'lose 2 all=false'],
    ],
    [
      'its weight becomes 0',
      health(all),
      health([a!, idle(b), c!]),
      ['drain 2 300000'],
      ['drain 2 300000', 'lose 2 all=false'],
    ],
    ['a member is back that was removed', health([a!]), health([a!, b!]), ['keep 2'], ['keep 2']],
    [
      'its weight is no longer 0, but it is down',
      health([idle(a), b!], ['a']),
      health([a!, b!], ['a']),
      ['keep 1'],
      ['keep 1'],
    ],
    ['its weight is 0 as before', health([a!, idle(b)]), health([a!, idle(b)]), [], []],
    [
      'its weight is 0 and it goes down',
      health([a!, idle(b)]),
      health([a!, idle(b)], ['b']),
      ['lose 2 all=true'],
      ['lose 2 all=false'],
    ],
    ['it is back after a drain', health([a!, idle(b)]), health([a!, b!]), ['keep 2'], ['keep 2']],
    ['it is made again under another id', health(all), health([a!, { ...b!, id: 'new' }, c!]), [], []],
    ['the pool goes', health([a!]), null, ['drain 1 300000'], ['drain 1 300000', 'lose 1 all=false']],
    ['a sound service is new', null, health(all), [], []],
    [
      'a service is new',
      null,
      health([a!, idle(b)], ['a']),
      ['lose 1 all=true', 'drain 2 300000'],
      ['lose 1 all=false', 'drain 2 300000', 'lose 2 all=false'],
    ],
  ])('%s', (_, before, after, udp, tcp) => {
    expect(text(flowChanges('udp', before, after))).toEqual(udp)
    expect(text(flowChanges('tcp', before, after))).toEqual(tcp)
  })

  it('leaves SCTP associations to members that are down, and ends them with those that left', () => {
    expect(text(flowChanges('sctp', health(all), health(all, ['b'])))).toEqual([])
    expect(text(flowChanges('sctp', health(all), health([a!, c!])))).toEqual(['drain 2 300000'])
  })

  it('leaves alone the flows of members that a backup relieves or relieved', () => {
    const backup = member('x', '10.0.0.9', { backup: true })
    const pools = [health([a!, backup]), health([a!, backup], ['a'])] as const
    expect(text(flowChanges('tcp', pools[0], pools[1]))).toEqual(['lose 1 all=false'])
    expect(text(flowChanges('tcp', pools[1], pools[0]))).toEqual(['keep 1'])
  })

  it('touches no member whose own state did not change', () => {
    const state = fc.record({ there: fc.boolean(), weight: fc.constantFrom(0, 1), down: fc.boolean() })
    fc.assert(
      fc.property(fc.array(fc.tuple(state, state), { minLength: 1, maxLength: 8 }), (members) => {
        const side = (n: 0 | 1): PoolHealth => {
          const own = members.flatMap((each, index) =>
            each[n].there ? [member(`m${index}`, `10.0.0.${index + 1}`, { weight: each[n].weight })] : [],
          )
          return health(
            own,
            members.flatMap((each, index) => (each[n].down ? [`m${index}`] : [])),
          )
        }
        const touched = new Set(flowChanges('udp', side(0), side(1)).map(({ end }) => end.address))
        for (const [index, [before, after]] of members.entries())
          if (JSON.stringify(before) === JSON.stringify(after)) expect(touched).not.toContain(`10.0.0.${index + 1}`)
      }),
    )
  })
})
