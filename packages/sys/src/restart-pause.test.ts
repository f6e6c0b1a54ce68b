import { expect, it } from 'vitest'
import { restartPauseMs } from './restart-pause.ts'

it('restarts a process at once, one that keeps dying ever later, and starts over after a longer run', () => {
  let pause = restartPauseMs(0, 60_000)
  expect(pause).toBe(0)
  const pauses = Array.from({ length: 10 }, () => {
    pause = restartPauseMs(pause, 5)
    return pause
  })
  expect(pauses).toEqual([20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000])
  expect(restartPauseMs(pause, 2_000)).toBe(0)
})
