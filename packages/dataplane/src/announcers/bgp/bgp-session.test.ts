import { describe, expect, it } from 'vitest'
import { NAMED_SETTINGS } from '../../testing/bgp/named-settings.ts'
import { type BgpSession, type DroppedSegments, sessionsOf, steadyTimes } from './bgp-session.ts'
import { LostNeighbours } from './lost-neighbours.ts'
import type { ShownSession } from './show-protocols.ts'

const plain = NAMED_SETTINGS.plain!
const now = new Date('2026-11-21T16:00:00Z')
const shown = (own: Partial<ShownSession>): ShownSession => ({
  name: 'peer_top_of_rack_1',
  protocolState: 'start',
  since: '2026-11-21 15:37:07.746',
  bgpState: 'Connect',
  neighborAddress: '10.9.0.254',
  lastError: null,
  holdTimeS: null,
  keepaliveTimeS: null,
  neighborRestarts: false,
  channels: [],
  ...own,
})
const none: DroppedSegments = { wrong: 0, unexpected: 0 }
const session = (own: Partial<ShownSession>, md5Secret: string | null = null, dropped = none) => {
  const peers = plain.peers.map((peer) => ({ ...peer, md5Secret }))
  return sessionsOf({ ...plain, peers }, [shown(own)], [], dropped, now)[0]!
}

describe('sessionsOf', () => {
  it('tells an established session', () => {
    const channels = [{ family: 'ipv4' as const, state: 'UP', exported: 3, received: 0, limited: false }]
    const up = session({ protocolState: 'up', bgpState: 'Established', channels, holdTimeS: 9, keepaliveTimeS: 3 })
    expect(up).toMatchObject({
      peerId: 'top-of-rack-1',
      state: 'established',
      since: '2026-11-21T15:37:07.746Z',
      announced: 3,
      announcedByFamily: { ipv4: 3 },
      lastError: null,
      bfd: null,
    })
  })

  it('says what too many prefixes mean', () => {
    const channels = [{ family: 'ipv4' as const, state: 'UP', exported: 3, received: 100, limited: true }]
    const limited = session({ protocolState: 'up', bgpState: 'Established', channels })
    expect(limited).toMatchObject({
      overPrefixLimit: true,
      lastError: expect.stringContaining('more than 100 prefixes'),
    })
  })

  it('says why a session is not up', () => {
    expect(session({}).lastError).toBe('no answer from 10.9.0.254 port 179')
    expect(session({ lastError: 'Socket: Connection refused' }).lastError).toBe('Socket: Connection refused')
    expect(session({ lastError: 'BGP Error: Bad peer AS' }).lastError).toBe('BGP Error: Bad peer AS: expected 64500')
    expect(session({ lastError: 'Received: Bad peer AS' }).lastError).toMatch(/the peer expects another AS of us$/)
    expect(session({}, 'secret').lastError).toMatch(/TCP MD5 secret/)
    expect(session({}, 'secret', { wrong: 2, unexpected: 0 }).lastError).toMatch(/differs from the peer's/)
    expect(session({}, null, { wrong: 0, unexpected: 2 }).lastError).toMatch(/has no secret/)
  })

  it('knows of a daemon that is gone', () => {
    const [stopped] = sessionsOf(plain, [], [], none, now)
    expect(stopped).toMatchObject({ state: 'stopped', announced: 0, since: now.toISOString() })
  })

  it('finds the neighbour of an unnumbered session', () => {
    const found = sessionsOf(
      NAMED_SETTINGS.unnumbered!,
      [
        shown({ name: 'peer_unnumbered', bgpState: 'Passive', neighborAddress: 'fe80::/10%fab0' }),
        shown({
          name: 'peer_unnumbered_at1',
          protocolState: 'up',
          bgpState: 'Established',
          neighborAddress: 'fe80::2%fab0',
        }),
      ],
      [{ address: 'fe80::2', state: 'up', since: '2026-11-21 15:37:08.000', intervalMs: 80, timeoutMs: 240 }],
      none,
      now,
    )
    expect(found).toMatchObject([{ state: 'established', address: 'fe80::2', bfd: 'up' }])
  })
})

describe('LostNeighbours', () => {
  const up = { ...session({ protocolState: 'up', bgpState: 'Established' }), bfd: 'up' as const, bfdSince: '1' }

  it('finds a session that BFD lost its neighbour of, once, at the second look', () => {
    const lost = new LostNeighbours()
    const down = { ...up, bfd: 'down' as const, bfdSince: '2' }
    expect([up, up, down, down, down].map((each) => lost.find([each]))).toEqual([[], [], [], [up.peerId], []])
  })

  it('finds it too when BFD is up again before anybody looked', () => {
    const lost = new LostNeighbours()
    const again = { ...up, bfdSince: '3' }
    expect([up, again, again].map((each) => lost.find([each]))).toEqual([[], [], [up.peerId]])
  })

  it('leaves alone a session that its router ended', () => {
    const lost = new LostNeighbours()
    const looks = [up, { ...up, bfd: 'down' as const, bfdSince: '2' }, { ...up, since: 'later', bfdSince: '3' }]
    expect([...looks, looks[2]!].map((each) => lost.find([each]))).toEqual([[], [], [], []])
  })

  it('leaves alone a session that its router can replace', () => {
    const lost = new LostNeighbours()
    const replaceable = { ...up, replaceable: true }
    const again = { ...replaceable, bfdSince: '3' }
    expect([replaceable, again, again, again].map((each) => lost.find([each]))).toEqual([[], [], [], []])
  })

  it('leaves alone a session that began anew by itself, and one that waits for BFD', () => {
    const lost = new LostNeighbours()
    lost.find([{ ...up, bfd: 'down', bfdSince: '0' }])
    expect(lost.find([up])).toEqual([])
    expect(lost.find([{ ...up, since: 'later', bfdSince: '4' }])).toEqual([])
    expect(lost.find([{ ...up, since: 'later', bfd: null, bfdSince: null }])).toEqual([])
  })
})

describe('steadyTimes', () => {
  const up = session({ protocolState: 'up', bgpState: 'Established' })
  const steadied = (own: Partial<BgpSession>, of: Partial<BgpSession> = {}) =>
    steadyTimes([{ ...up, ...of }], [{ ...up, ...own }])[0]!

  it('keeps a time that was only computed again', () => {
    expect(steadied({ since: '2026-11-21T15:37:07.747Z' }).since).toBe(up.since)
    const bfd = { bfd: 'up', bfdSince: '2026-11-21T15:37:08.000Z' } as const
    expect(steadied({ ...bfd, bfdSince: '2026-11-21T15:37:07.951Z' }, bfd).bfdSince).toBe(bfd.bfdSince)
  })

  it('takes the time of another session, another state, another peer', () => {
    expect(steadied({ since: '2026-11-21T15:37:09.000Z' }).since).toBe('2026-11-21T15:37:09.000Z')
    expect(steadied({ state: 'idle', since: '2026-11-21T15:37:07.750Z' }).since).toBe('2026-11-21T15:37:07.750Z')
    expect(steadyTimes([], [up])).toEqual([up])
  })
})
