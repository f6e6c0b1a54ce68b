import type { AgentLink, StateLine } from '@spout/client/agent-link'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { followLink } from './follow-link.ts'

type Stream = () => AsyncIterable<readonly StateLine[]>

/** Plays one stream after the other, then none that ever ends. @param servers how many there are, asked in turn */
function play(streams: readonly Stream[], servers = 1) {
  const clock = new FakeClock()
  const abort = new AbortController()
  const seen: string[] = []
  const startedAtMs: number[] = []
  const asked: number[] = []
  let at = 0
  const link: AgentLink = {
    state: (signal) => {
      startedAtMs.push(clock.monotonicMs())
      asked.push(at)
      return (streams[startedAtMs.length - 1] ?? (() => forever(signal)))()
    },
    report: () => Promise.reject(new Error('not here')),
    renew: () => Promise.reject(new Error('not here')),
    certificates: () => Promise.reject(new Error('not here')),
    close: () => {},
  }
  const done = followLink(
    {
      link: () => link,
      servers: {
        count: servers,
        next: () => {
          at = (at + 1) % servers
        },
      },
      onConnect: () => seen.push('connect'),
      onLines: (lines) => seen.push(...lines.map((line) => line.type)),
      random: () => 1,
      clock,
      log: silentLogger(),
    },
    abort.signal,
  )
  const stop = (): Promise<void> => {
    abort.abort()
    return done
  }
  return { clock, seen, startedAtMs, asked, stop }
}

async function* forever(signal: AbortSignal): AsyncGenerator<readonly StateLine[]> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

async function* lines(...batches: readonly StateLine[][]): AsyncGenerator<readonly StateLine[]> {
  yield* batches
}

async function* broken(...batches: readonly StateLine[][]): AsyncGenerator<readonly StateLine[]> {
  yield* batches
  throw new Error('connection reset')
}

test('reconnects with a back-off that grows until a full set has arrived', async () => {
  const refused = () => broken()
  const player = play([refused, refused, refused, () => lines([{ type: 'synced' }]), refused])
  await player.clock.advance(10_000)
  // Pauses of 100, 200, 400 ms; after the full set of the fourth from 100 ms again.
  expect(player.startedAtMs).toEqual([0, 100, 300, 700, 800, 1000])
  await player.stop()
})

test('a server that always breaks off halfway is not hammered', async () => {
  const half = () => broken([{ type: 'heartbeat' }])
  const player = play(Array.from({ length: 20 }, () => half))
  await player.clock.advance(20_000)
  expect(player.startedAtMs.length).toBeLessThan(12)
  await player.stop()
})

test('each connection starts again, and without a link nothing is called', async () => {
  const player = play([() => broken([{ type: 'heartbeat' }]), () => broken(), () => lines([{ type: 'synced' }])])
  await player.clock.advance(10_000)
  expect(player.seen).toEqual(['connect', 'heartbeat', 'connect', 'synced'])
  await player.stop()
})

test('of several servers each is asked in turn, with a pause after a round; who has a full set is left only when it ends', async () => {
  const away = () => broken()
  const half = () => broken([{ type: 'heartbeat' }])
  const player = play([away, half, away, away, () => lines([{ type: 'synced' }]), away, away], 3)
  await player.clock.advance(10_000)
  expect(player.asked).toEqual([0, 1, 2, 0, 1, 2, 0, 1])
  // The others are asked at once: one of them may lead already.
  expect(player.startedAtMs).toEqual([0, 0, 0, 100, 100, 100, 100, 200])
  expect(player.seen).toEqual(['connect', 'heartbeat', 'connect', 'synced'])
  await player.stop()
})
