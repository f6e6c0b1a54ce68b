import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { NodeLiveness } from './node-liveness.ts'

const start = () => {
  const clock = new FakeClock()
  return { clock, liveness: new NodeLiveness({ clock, disconnectedAfterMs: 3000, moveAfterMs: 5000 }) }
}

test('a node that is not heard of after a start is lost after the time in which addresses move', async () => {
  const { clock, liveness } = start()
  liveness.watch('a')
  await clock.advance(4999)
  expect(liveness.of('a')).toBe('new')
  await clock.advance(1)
  expect(liveness.of('a')).toBe('lost')
  liveness.close()
})

test('while others are heard of for the first time, who is late in the queue is not gone', async () => {
  const { clock, liveness } = start()
  for (const node of ['a', 'b', 'c', 'd']) liveness.watch(node)
  for (const node of ['a', 'b', 'c']) {
    await clock.advance(4000)
    liveness.heardOf(node)
  }
  expect(liveness.of('d')).toBe('new')
  await clock.advance(4999)
  expect(liveness.of('d')).toBe('new')
  await clock.advance(1)
  expect(liveness.of('d')).toBe('lost')
  // One that was heard of gets no more than its own time.
  expect(liveness.of('c')).toBe('lost')
  liveness.close()
})

test('but not for ever, and nobody who comes back later prolongs it', async () => {
  const { clock, liveness } = start()
  liveness.watch('late')
  for (let second = 0; second < 66; second++) {
    if (second < 60) expect(liveness.of('late')).toBe('new')
    liveness.heardOf(`other-${second}`)
    await clock.advance(1000)
  }
  expect(liveness.of('late')).toBe('lost')
  liveness.watch('next')
  await clock.advance(3000)
  liveness.heardOf('other-0')
  await clock.advance(1999)
  liveness.heardOf('other-0')
  expect(liveness.of('next')).toBe('new')
  await clock.advance(1)
  expect(liveness.of('next')).toBe('lost')
  liveness.close()
})
