import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StepRing } from './step-ring.ts'

const STEPS = 5

test('a ring has what a list of all steps has at its end', () => {
  const puts = fc.array(fc.record({ gap: fc.integer({ min: 1, max: 8 }), value: fc.integer({ min: 1, max: 1000 }) }))
  fc.assert(
    fc.property(puts, fc.nat(8), (all, later) => {
      const ring = new StepRing(STEPS, [0, 'last', 'unknown'])
      const model: (readonly [number | null, number | null, number | null])[] = Array.from({ length: 100 }, () => [
        null,
        null,
        null,
      ])
      let level: number | null = null
      for (const { gap, value } of all) {
        if (level !== null) for (let idle = 1; idle < gap; idle++) model.push([0, level, null])
        else for (let unknown = 1; unknown < gap; unknown++) model.push([null, null, null])
        ring.put(model.length, [value, value, value])
        model.push([value, value, value])
        level = value
      }
      for (let idle = 0; idle < later; idle++) model.push(level === null ? [null, null, null] : [0, level, null])
      const end = model.slice(-STEPS)
      for (const series of [0, 1, 2] as const)
        expect(ring.read(series, model.length)).toEqual(end.map((values) => values[series]))
    }),
  )
})

test('an unknown value is read as such', () => {
  const ring = new StepRing(2, ['unknown'])
  ring.put(10, [null])
  ring.put(11, [1.5])
  expect(ring.read(0, 12)).toEqual([null, 1.5])
})
