import { describe, expect, test } from 'vitest'
import { FakeClock } from './fake-clock.ts'
import { WorkSlices } from './work-slices.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Other work of the process: it takes `ms` in each turn of the event loop until it is ended. */
function others(clock: FakeClock, ms: number) {
  const ran = { turns: 0, ended: false }
  const next = () => {
    if (ran.ended) return
    ran.turns++
    clock.stall(ms)
    setImmediate(next)
  }
  setImmediate(next)
  return ran
}

describe('WorkSlices', () => {
  test('what fits into a slice runs at once, and the rest when others had their share', async () => {
    const clock = new FakeClock()
    const slices = new WorkSlices({ clock, sliceMs: 4, othersFactor: 3 })
    const busy = others(clock, 2)
    const began: number[] = []
    const piece = () =>
      slices.next(() => {
        began.push(busy.turns)
        clock.stall(2)
      })
    await Promise.all(Array.from({ length: 6 }, piece))
    busy.ended = true
    // Two pieces of 2 ms are a slice. Others then have 12 ms, which is six of their turns.
    expect(began.slice(0, 2)).toEqual([0, 0])
    for (const later of [2, 4]) {
      expect(began[later]! - began[later - 1]!).toBeGreaterThanOrEqual(6)
      expect(began[later + 1]).toBe(began[later])
    }
  })

  test('gives what a piece gives, and throws what it throws', async () => {
    const slices = new WorkSlices({ clock: new FakeClock(), sliceMs: 4, othersFactor: 1 })
    expect(await slices.next(async () => 'made')).toBe('made')
    const broken = slices.next(() => {
      throw new Error('broken')
    })
    await expect(broken).rejects.toThrow('broken')
  })

  test('in an idle process a slice follows the one before in the next turn', async () => {
    const clock = new FakeClock()
    const slices = new WorkSlices({ clock, sliceMs: 4, othersFactor: 1000 })
    await slices.next(() => clock.stall(10))
    let hasRun = false
    const waiting = slices.next(() => {
      hasRun = true
    })
    await Promise.resolve()
    expect(hasRun).toBe(false)
    await turn()
    await waiting
  })
})
