import type { BgpSessionReport, BgpSessionState } from '@spout/model/node-report'
import type { BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import { peerSymbol } from './bird-text.ts'
import type { ShownBfd } from './show-bfd.ts'
import type { ShownSession } from './show-protocols.ts'

/** The session with one peer. */
export interface BgpSession extends BgpSessionReport {
  /** The neighbour's address. In an unnumbered session it is null until the session was up once. */
  readonly address: string | null
  /** Prefixes announced to the peer now, by family; only families of the session. */
  readonly announcedByFamily: Readonly<Partial<Record<'ipv4' | 'ipv6', number>>>
  /** Prefixes that the peer sends. All are ignored. */
  readonly received: number
  /** The peer sends more than `prefixLimit`. The rest is dropped; the session stays up. */
  readonly overPrefixLimit: boolean
  /** Negotiated hold time in seconds; null while not established. */
  readonly holdTimeS: number | null
  readonly keepaliveTimeS: number | null
  /** The neighbour can open the session again while we still have it (RFC 4724 section 4.2). */
  readonly replaceable: boolean
  /** RFC 3339: when BFD last found or lost the neighbour; null without BFD. */
  readonly bfdSince: string | null
  /** Negotiated timers; null without BFD. */
  readonly bfdTimers: { readonly intervalMs: number; readonly timeoutMs: number } | null
}

/** Segments that the kernel dropped for their TCP MD5 signature, over all sessions of the node. */
export interface DroppedSegments {
  /** Segments with a wrong signature, or without one where it is required. */
  readonly wrong: number
  /** Segments with a signature where none is expected. */
  readonly unexpected: number
}

const STATES: Readonly<Record<string, BgpSessionState>> = {
  Idle: 'idle',
  Connect: 'connect',
  Active: 'active',
  OpenSent: 'open-sent',
  OpenConfirm: 'open-confirm',
  Established: 'established',
  // An unnumbered session waits for its first neighbour.
  Passive: 'active',
}

/** Combines the state of the two daemons and the kernel. Pure. */
export function sessionsOf(
  settings: BgpSettings,
  shown: readonly ShownSession[],
  bfd: readonly ShownBfd[],
  dropped: DroppedSegments,
  now: Date,
): readonly BgpSession[] {
  const byName = new Map(shown.map((session) => [session.name, session]))
  return settings.peers.map((peer) => {
    const name = peerSymbol('peers.id', peer.id)
    const found = shown.find((session) => new RegExp(`^${name}_at[0-9]+$`).test(session.name)) ?? byName.get(name)
    return sessionOf(peer, found, bfd, dropped, now)
  })
}

/** BIRD computes times from its own clock for each reply, so they differ slightly. */
const SAME_MS = 100

/** Keeps the earlier times where the new ones mean the same. */
export function steadyTimes(before: readonly BgpSession[], after: readonly BgpSession[]): readonly BgpSession[] {
  const known = new Map(before.map((session) => [session.peerId, session]))
  return after.map((session) => {
    const old = known.get(session.peerId)
    if (old === undefined) return session
    return {
      ...session,
      since: old.state === session.state ? steady(old.since, session.since) : session.since,
      bfdSince:
        old.bfdSince === null || session.bfdSince === null || old.bfd !== session.bfd
          ? session.bfdSince
          : steady(old.bfdSince, session.bfdSince),
    }
  })
}

const steady = (before: string, after: string): string =>
  Math.abs(Date.parse(after) - Date.parse(before)) <= SAME_MS ? before : after

function sessionOf(
  peer: BgpPeerSettings,
  shown: ShownSession | undefined,
  bfd: readonly ShownBfd[],
  dropped: DroppedSegments,
  now: Date,
): BgpSession {
  const state: BgpSessionState =
    shown === undefined || shown.protocolState === 'down' ? 'stopped' : (STATES[shown.bgpState ?? ''] ?? 'idle')
  const address = peer.address ?? plainAddress(shown?.neighborAddress)
  const channels = shown?.channels ?? []
  const up = state === 'established'
  const seen = peer.bfd === null ? undefined : bfd.find((session) => session.address === address)
  const limited = channels.some((channel) => channel.limited)
  return {
    peerId: peer.id,
    state,
    since: shown === undefined ? now.toISOString() : rfc3339(shown.since),
    address,
    announced: up ? channels.reduce((sum, { exported }) => sum + exported, 0) : 0,
    announcedByFamily: Object.fromEntries(channels.map(({ family, exported }) => [family, up ? exported : 0])),
    received: up ? channels.reduce((sum, { received }) => sum + received, 0) : 0,
    overPrefixLimit: up && limited,
    lastError: up ? overLimit(peer, limited) : ((shown && reasonOf(peer, shown, dropped)) ?? null),
    bfd: peer.bfd === null ? null : (seen?.state ?? 'down'),
    bfdSince: seen === undefined ? null : rfc3339(seen.since),
    bfdTimers: seen === undefined ? null : { intervalMs: seen.intervalMs, timeoutMs: seen.timeoutMs },
    holdTimeS: up ? (shown?.holdTimeS ?? null) : null,
    keepaliveTimeS: up ? (shown?.keepaliveTimeS ?? null) : null,
    replaceable: up && shown?.neighborRestarts === true,
  }
}

/** The daemons run in UTC. */
const rfc3339 = (text: string): string => `${text.replace(' ', 'T')}Z`

const overLimit = ({ prefixLimit }: BgpPeerSettings, limited: boolean): string | null =>
  limited ? `the peer sends more than ${prefixLimit} prefixes: those beyond are dropped` : null

/** Why the session is not up: the daemon's text, with an explanation where it has none. */
function reasonOf(
  peer: BgpPeerSettings,
  { bgpState, lastError }: ShownSession,
  dropped: DroppedSegments,
): string | null {
  if (lastError !== null && !/^Socket: (Connection timed out|Connection reset)/.test(lastError))
    return explain(lastError, peer)
  if (bgpState !== 'Connect' && bgpState !== 'Active' && bgpState !== 'OpenSent') return lastError
  if (peer.md5Secret !== null && dropped.wrong > 0)
    return "the TCP MD5 secret differs from the peer's: its segments are dropped"
  if (peer.md5Secret === null && dropped.unexpected > 0)
    return 'the peer signs with TCP MD5, and this session has no secret: its segments are dropped'
  const who = peer.address === null ? 'no neighbour' : `no answer from ${peer.address} port ${peer.port}`
  return peer.md5Secret === null ? who : `${who}; a peer with another TCP MD5 secret is silent too`
}

function explain(words: string, peer: BgpPeerSettings): string {
  if (words.includes('Bad peer AS'))
    return words.startsWith('Received')
      ? `${words}: the peer expects another AS of us`
      : `${words}: expected ${peer.as}`
  return words
}

/** The address without its zone: `fe80::1` for `fe80::1%fab0`. */
const plainAddress = (text: string | null | undefined): string | null => {
  const address = text?.replace(/%.*$/, '') ?? null
  return address === null || address.includes('/') ? null : address
}
