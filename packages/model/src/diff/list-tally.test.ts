import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ListTally } from './list-tally.ts'

const item = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }).map((names) => ({ names }))

it('counts a changed list as it counts a new one', () => {
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 70, maxLength: 80 }),
      fc.array(fc.record({ at: fc.nat(80), remove: fc.nat(2), add: fc.array(item, { maxLength: 2 }) }), {
        maxLength: 6,
      }),
      (first, changes) => {
        const tally = new ListTally<{ readonly names: readonly string[] }>(({ names }) => names)
        let list: { names: string[] }[] = first
        tally.of(list)
        for (const { at, remove, add } of changes) {
          list = list.toSpliced(at, remove, ...add)
          const counts = Map.groupBy(
            list.flatMap(({ names }) => names),
            (name) => name,
          )
          expect(new Map([...tally.of(list)].sort())).toEqual(
            new Map([...counts].map(([name, all]) => [name, all.length] as const).sort()),
          )
        }
      },
    ),
  )
})

it('looks at the items of a long list once', () => {
  let looked = 0
  const tally = new ListTally<object>(() => {
    looked++
    return []
  })
  const list = Array.from({ length: 1_000 }, () => ({}))
  tally.of(list)
  tally.of(list)
  const longer = [{}, ...list]
  tally.of(longer)
  tally.of([...longer, {}])
  expect(looked).toBe(1_002)
})
