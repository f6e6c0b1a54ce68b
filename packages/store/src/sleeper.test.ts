import { expect, test } from 'vitest'
import { Sleeper } from './sleeper.ts'

test('wakes for news that it does not sleep on', async () => {
  const sleeper = new Sleeper()
  let isForIt = false
  let asked = 0
  let woke: string | null = null
  const sleeping = sleeper
    .sleep(() => {
      asked++
      return !isForIt
    })
    .then((why) => {
      woke = why
    })
  for (let n = 0; n < 3; n++) sleeper.news()
  await Promise.resolve()
  expect([asked, woke]).toEqual([3, null])
  isForIt = true
  sleeper.news()
  await sleeping
  expect(woke).toBe('news')
  // It is awake, and looks at the log before it sleeps again.
  sleeper.news()
  expect(asked).toBe(4)
})
