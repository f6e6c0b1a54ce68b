import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, it } from 'vitest'
import { Repeats } from './repeats.ts'

/** When turns begin, by task. */
function recorded(clock: FakeClock) {
  const turns: Record<string, number[]> = {}
  const record = (name: string) => () => {
    turns[name] = [...(turns[name] ?? []), clock.monotonicMs()]
  }
  return { turns, record }
}

it('begins the turns of tasks with related pauses together, whenever they were given', async () => {
  const clock = new FakeClock()
  const repeats = new Repeats(clock)
  const { turns, record } = recorded(clock)
  repeats.every('each second', 1000, record('each second'))
  await clock.advance(1300)
  repeats.every('each two seconds', 2000, record('each two seconds'))
  await clock.advance(4700)
  repeats.close()
  expect(turns).toEqual({
    'each second': [1000, 2000, 3000, 4000, 5000, 6000],
    'each two seconds': [4000, 6000],
  })
})

it('waits for half a pause at least after a long turn', async () => {
  const clock = new FakeClock()
  const repeats = new Repeats(clock)
  const { turns, record } = recorded(clock)
  repeats.every('slow', 1000, async () => {
    record('slow')()
    await new Promise<void>((resolve) => clock.setTimer(resolve, 800))
  })
  await clock.advance(5000)
  repeats.close()
  expect(turns).toEqual({ slow: [1000, 3000, 5000] })
})

it('begins no turn after it was closed', async () => {
  const clock = new FakeClock()
  const repeats = new Repeats(clock)
  const { turns, record } = recorded(clock)
  repeats.every('closed', () => 500, record('closed'))
  await clock.advance(600)
  repeats.close()
  await clock.advance(2000)
  expect(turns).toEqual({ closed: [500] })
})
