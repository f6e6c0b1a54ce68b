import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { NodeLiveness } from './node-liveness.ts'

const start = () => {
  const clock = new FakeClock()
  return { clock, liveness: new NodeLiveness({ clock, disconnectedAfterMs: 3000, moveAfterMs: 5000 }) }
}

test('a node that does not report after a start is lost after `moveAfterMs`', async () => {
  const { clock, liveness } = start()
  liveness.watch('a')
  await clock.advance(4999)
  expect(liveness.of('a')).toBe('new')
  await clock.advance(1)
  expect(liveness.of('a')).toBe('lost')
  liveness.close()
})

test('while other nodes report for the first time, a late node is not lost', async () => {
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
  // A node that has reported gets only its own time.
  expect(liveness.of('c')).toBe('lost')
  liveness.close()
})

test('but not for ever, and returning nodes do not prolong that time', async () => {
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

test('a standstill of the control plane does not count as silence', async () => {
  const { clock, liveness } = start()
  const nodes = ['a', 'b', 'c']
  const changes: string[] = []
  for (const node of nodes) liveness.heardOf(node)
  liveness.onChange((node) => changes.push(`${node} ${liveness.of(node)}`))
  for (const standstillMs of [2999, 3001, 6000, 60_000]) {
    await clock.advance(900)
    clock.stall(standstillMs)
    // Timers fire before the sockets are read.
    await clock.advance(1)
    for (const node of nodes) liveness.heardOf(node)
    await clock.advance(900)
    for (const node of nodes) liveness.heardOf(node)
  }
  expect(changes).toEqual([])
  liveness.close()
})

test('after a long standstill every node has the full time to report, and a dead one is lost after it', async () => {
  const { clock, liveness } = start()
  for (const node of ['alive', 'dead']) liveness.heardOf(node)
  await clock.advance(2900)
  clock.stall(10_000)
  await clock.advance(2900)
  expect(liveness.of('dead')).toBe('connected')
  liveness.heardOf('alive')
  await clock.advance(2099)
  expect([liveness.of('alive'), liveness.of('dead')]).toEqual(['connected', 'disconnected'])
  await clock.advance(1000)
  expect([liveness.of('alive'), liveness.of('dead')]).toEqual(['disconnected', 'lost'])
  liveness.close()
})

test('a control plane with repeated standstills still finds a dead node', async () => {
  const { clock, liveness } = start()
  liveness.heardOf('dead')
  let rounds = 0
  while (liveness.of('dead') !== 'lost' && rounds++ < 100) {
    await clock.advance(1000)
    clock.stall(4000)
  }
  // The process ran for 12 times 5 s meanwhile.
  expect(rounds).toBeGreaterThan(1)
  expect(rounds).toBeLessThanOrEqual(60)
  liveness.close()
})

test('busy moments count', async () => {
  const { clock, liveness } = start()
  liveness.heardOf('dead')
  for (let moment = 0; moment < 13; moment++) {
    await clock.advance(1)
    clock.stall(400)
  }
  await clock.advance(1)
  expect(liveness.of('dead')).toBe('lost')
  liveness.close()
})
