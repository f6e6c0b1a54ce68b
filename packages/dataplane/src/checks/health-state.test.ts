import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HealthState, nextHealth, UNKNOWN } from './health-state.ts'

const good = { ok: true, reason: null }
const bad = { ok: false, reason: 'connection refused' }
const run = (text: string, spec = { rise: 2, fall: 3 }): readonly HealthState['health'][] => {
  let state = UNKNOWN
  return [...text].map((letter) => {
    state = nextHealth(state, letter === '+' ? good : bad, spec)
    return state.health
  })
}

describe('nextHealth', () => {
  it.each([
    ['+', 'up'],
    ['-', 'down'],
    ['+--', 'up'],
    ['+---', 'down'],
    ['+--+--', 'up'],
    ['-+', 'down'],
    ['-++', 'up'],
    ['-+-+', 'down'],
  ])('%s ends %s with rise 2 and fall 3', (results, health) => expect(run(results).at(-1)).toBe(health))

  it('carries the last reason while down and none while up', () => {
    const down = nextHealth(
      nextHealth(UNKNOWN, bad, { rise: 1, fall: 1 }),
      { ok: false, reason: 'timed out' },
      { rise: 1, fall: 1 },
    )
    expect(down.reason).toBe('timed out')
    expect(nextHealth(down, good, { rise: 1, fall: 1 }).reason).toBeNull()
  })

  it('changes only after rise or fall results in a row', () => {
    const spec = fc.record({ rise: fc.integer({ min: 1, max: 10 }), fall: fc.integer({ min: 1, max: 10 }) })
    fc.assert(
      fc.property(spec, fc.array(fc.boolean(), { maxLength: 60 }), (limits, results) => {
        let state = UNKNOWN
        let row = 0
        for (const [index, ok] of results.entries()) {
          row = index > 0 && results[index - 1] === ok ? row + 1 : 1
          const before = state.health
          state = nextHealth(state, ok ? good : bad, limits)
          if (before === 'unknown') expect(state.health).toBe(ok ? 'up' : 'down')
          else if (state.health !== before) {
            expect(state.health).toBe(ok ? 'up' : 'down')
            expect(row).toBeGreaterThanOrEqual(ok ? limits.rise : limits.fall)
          } else if (row >= (ok ? limits.rise : limits.fall)) expect(state.health).toBe(ok ? 'up' : 'down')
        }
      }),
    )
  })
})
