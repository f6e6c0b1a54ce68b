import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, expect, it } from 'vitest'
import type { BgpSession } from './bgp-session.ts'
import { SessionWatch } from './session-watch.ts'

const session = (changes: Partial<BgpSession> = {}): BgpSession => ({
  peerId: 'p',
  state: 'established',
  since: '2026-01-01T00:00:00.000Z',
  address: '192.0.2.1',
  announced: 1,
  announcedByFamily: { ipv4: 1 },
  received: 0,
  overPrefixLimit: false,
  lastError: null,
  bfd: 'up',
  bfdSince: null,
  bfdTimers: null,
  replaceable: false,
  holdTimeS: 9,
  keepaliveTimeS: 3,
  ...changes,
})

let clock: FakeClock
let now: readonly BgpSession[]
let looks: number
let onLook: () => void
let heard: string[]
let watch: SessionWatch

beforeEach(() => {
  clock = new FakeClock()
  now = [session()]
  looks = 0
  onLook = () => {}
  heard = []
  watch = new SessionWatch(clock, async () => {
    looks++
    onLook()
    return now
  })
  watch.add((sessions) => heard.push(sessions.map(({ state }) => state).join()))
})

it('reports relevant changes, not each state of a session that does not come up', async () => {
  watch.start()
  await clock.advance(2000)
  now = [session({ state: 'connect', lastError: 'no answer' })]
  await clock.advance(1000)
  now = [session({ state: 'active', lastError: 'no answer' })]
  await clock.advance(1000)
  expect(heard).toEqual(['established', 'connect'])
})

it('reports that no session is left', async () => {
  watch.start()
  await clock.advance(1000)
  watch.end()
  await clock.advance(5000)
  expect(heard).toEqual(['established', ''])
  watch.start()
  await clock.advance(1000)
  expect(heard).toEqual(['established', '', 'established'])
})

it('reads once a second, also when restarted during a read, and reports nothing once stopped', async () => {
  onLook = () => {
    watch.stop()
    watch.start()
  }
  watch.start()
  await clock.advance(3000)
  onLook = () => {}
  looks = 0
  await clock.advance(5000)
  expect(looks).toBe(5)
  watch.stop()
  now = []
  await clock.advance(5000)
  expect(heard).toEqual(['established'])
})
