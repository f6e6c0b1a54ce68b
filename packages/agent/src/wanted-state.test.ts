import { editsBetween } from '@spout/model/edits'
import { entryHash } from '@spout/model/entry-hash'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { expect, test } from 'vitest'
import { WantedState } from './wanted-state.ts'

const entry = (generation: number, members: readonly string[]): LoadBalancerEntry =>
  ({
    kind: 'load-balancer',
    version: 1,
    key: 'lb/a',
    id: 'a',
    generation,
    domain: 1,
    services: [],
    pools: [{ id: 'p', members }],
  }) as unknown as LoadBalancerEntry
const put = (one: LoadBalancerEntry) => ({ type: 'put', hash: entryHash(one), entry: one }) as const
const edit = (from: LoadBalancerEntry, to: LoadBalancerEntry) =>
  ({ type: 'edit', key: 'lb/a', from: entryHash(from), hash: entryHash(to), edits: editsBetween(from, to)! }) as const

const [first, second, third] = [entry(1, ['m1']), entry(2, ['m1', 'm2']), entry(3, ['m2'])]

test("an edit of a known version gives the control plane's version", () => {
  const wanted = new WantedState()
  wanted.begin()
  wanted.take([put(first!), { type: 'synced' }])
  const { changed, unknown } = wanted.take([edit(first!, second!), edit(second!, third!)])
  expect([[...changed], unknown]).toEqual([['lb/a'], []])
  expect(wanted.get('lb/a')).toEqual({ hash: entryHash(third!), entry: third })
})

test('an edit of an unknown version changes nothing and is reported; other lines count', () => {
  const wanted = new WantedState()
  wanted.begin()
  wanted.take([put(first!), { type: 'synced' }])
  const other = { ...first!, key: 'lb/b' }
  const { changed, unknown } = wanted.take([edit(second!, third!), put(other)])
  expect([[...changed], unknown]).toEqual([['lb/b'], ['lb/a']])
  expect(wanted.get('lb/a')?.entry).toEqual(first)
})

test('edits that come twice, late or out of order change nothing and are reported', () => {
  const wanted = new WantedState()
  wanted.begin()
  wanted.take([put(first!), { type: 'synced' }])
  const [one, two] = [edit(first!, second!), edit(second!, third!)]
  wanted.take([one, two])
  for (const lines of [[one], [two], [two, one]]) {
    const { changed, unknown } = wanted.take(lines)
    expect([changed.size, unknown]).toEqual([0, lines.map(() => 'lb/a')])
    expect(wanted.get('lb/a')).toEqual({ hash: entryHash(third!), entry: third })
  }
})
