import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ListIndex } from './list-index.ts'

interface Named {
  readonly name: string
}
const named = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f').map((name): Named => ({ name }))
const one = (name: string): Named => ({ name })

it('finds the first item with a key in any version of a list', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ at: fc.nat(90), remove: fc.nat(3), add: fc.array(named, { maxLength: 3 }) }), {
        maxLength: 8,
      }),
      (changes) => {
        const index = new ListIndex<Named>(({ name }) => name)
        let list: readonly Named[] = Array.from({ length: 80 }, (_, n) => one(`n${n % 75}`))
        for (const { at, remove, add } of changes) {
          list = Object.freeze(list.toSpliced(at, remove, ...add))
          for (const name of ['a', 'b', 'c', 'n0', 'n3', 'n74', 'none']) {
            const having = list.filter((item) => item.name === name)
            expect(index.find(list, name)).toBe(having[0])
            expect(index.count(list, name)).toBe(having.length)
          }
        }
      },
    ),
  )
})

it('looks at the items of a long list once, and at those that came', () => {
  let looked = 0
  const index = new ListIndex<Named>(({ name }) => {
    looked++
    return name
  })
  let list: readonly Named[] = Object.freeze(Array.from({ length: 1_000 }, (_, n) => one(`n${n}`)))
  expect(index.find(list, 'n7')).toBe(list[7])
  const atFirst = looked
  for (let n = 0; n < 10; n++) {
    list = Object.freeze(list.toSpliced(500 + n, 1, one(`m${n}`)))
    expect(index.find(list, `m${n}`)).toBe(list[500 + n])
    expect(index.find(list, `n${500 + n}`)).toBeUndefined()
  }
  expect(looked - atFirst).toBeLessThan(100)
})
