import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SharedMap } from './shared-map.ts'

const change = fc.record({ key: fc.nat(300).map(String), value: fc.option(fc.nat(3)) })
const byKey = (entries: Iterable<readonly [string, number]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1))

it('has what a map has after the same changes, and knows what differs from any version before', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 200 }), { maxLength: 5 }), (steps) => {
      const plain = new Map<string, number>()
      const versions: { shared: SharedMap<number>; plain: ReadonlyMap<string, number> }[] = [
        { shared: SharedMap.empty(), plain: new Map() },
      ]
      for (const changes of steps) {
        const draft = versions.at(-1)!.shared.draft()
        for (const { key, value } of changes) {
          if (value === null) plain.delete(key)
          else plain.set(key, value)
          if (value === null) draft.delete(key)
          else draft.set(key, value)
          expect(draft.get(key)).toBe(value ?? undefined)
        }
        versions.push({ shared: draft.done(), plain: new Map(plain) })
      }
      for (const { shared, plain } of versions) {
        expect(byKey(shared)).toEqual(byKey(plain))
        expect(shared.size).toBe(plain.size)
        expect([...shared.keys()].every((key) => shared.has(key) && shared.get(key) === plain.get(key))).toBe(true)
      }
      const [first, last] = [versions[Math.floor(versions.length / 2)]!, versions.at(-1)!]
      expect(byKey(last.shared.differing(first.shared))).toEqual(
        byKey([...last.plain].filter(([key, value]) => first.plain.get(key) !== value)),
      )
    }),
  )
})

it('shares what was not changed: one change of thousands leaves one other bucket', () => {
  const draft = SharedMap.empty<object>().draft()
  for (let at = 0; at < 5_000; at++) draft.set(`host-${at}.example.com`, {})
  const before = draft.done()
  const next = before.draft()
  next.set('new.example.com', {})
  const after = next.done()
  expect([...after.differing(before)].map(([key]) => key)).toEqual(['new.example.com'])
  expect([...before.differing(after)]).toEqual([])
  expect(after.size).toBe(5_001)
})
