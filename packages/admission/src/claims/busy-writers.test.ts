import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { BusyWriters } from './busy-writers.ts'

test('a project yields while another that writes has fewer changes at once', async () => {
  const clock = new FakeClock()
  const writers = new BusyWriters(clock)
  const over = Array.from({ length: 3 }, () => writers.begin('busy'))
  expect(writers.yields('busy')).toBe(false)
  writers.begin('quiet')()
  expect([writers.yields('busy'), writers.yields('quiet')]).toEqual([true, false])

  // A writer stays busy between its changes, until it has not written for a while.
  for (const end of over) end()
  writers.begin('busy')
  expect(writers.yields('busy')).toBe(true)
  await clock.advance(1500)
  for (const _ of [1, 2]) writers.begin('busy')
  expect(writers.yields('busy')).toBe(false)
})

test('projects that have as many do not yield, nor for what the system writes itself', () => {
  const writers = new BusyWriters(new FakeClock())
  for (const project of ['a', 'a', 'b', 'b', '']) writers.begin(project)
  expect(['a', 'b', ''].map((project) => writers.yields(project))).toEqual([false, false, false])
})
