import { describe, expect, test } from 'vitest'
import { FakeClock } from '../clock/fake-clock.ts'
import { silentLogger } from '../telemetry/logger.ts'
import { Lifecycle } from './lifecycle.ts'

const part = (name: string, seen: string[], change: { failStart?: boolean; failStop?: boolean } = {}) => ({
  name,
  start: () => {
    if (change.failStart) throw new Error(`${name} broke`)
    seen.push(`+${name}`)
  },
  stop: () => {
    seen.push(`-${name}`)
    if (change.failStop) throw new Error('stuck')
  },
})

describe('Lifecycle', () => {
  test('stops in reverse order, and continues after a component that fails to stop', async () => {
    const seen: string[] = []
    const lifecycle = new Lifecycle({ log: silentLogger() })
      .add(part('a', seen))
      .add(part('b', seen, { failStop: true }))
    await lifecycle.start()
    await Promise.all([lifecycle.stop(), lifecycle.stop()])
    expect(seen).toEqual(['+a', '+b', '-b', '-a'])
  })

  test('a component that does not start stops those before it', async () => {
    const seen: string[] = []
    const lifecycle = new Lifecycle({ log: silentLogger() })
      .add(part('a', seen))
      .add(part('b', seen, { failStart: true }))
      .add(part('c', seen))
    await expect(lifecycle.start()).rejects.toThrow('b broke')
    expect(seen).toEqual(['+a', '-a'])
  })

  test('a component that never stops is abandoned at the deadline', async () => {
    const seen: string[] = []
    const clock = new FakeClock()
    const lifecycle = new Lifecycle({ log: silentLogger(), clock, stopDeadlineMs: 1000 })
      .add(part('a', seen))
      .add({ name: 'hung', start: () => {}, stop: () => new Promise(() => {}) })
    await lifecycle.start()
    const stopped = lifecycle.stop()
    await clock.advance(1000)
    await stopped
    expect(seen).toEqual(['+a', '-a'])
  })
})
