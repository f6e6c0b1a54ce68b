import type { FlowsReport } from '@spout/model/node-report'
import type { FlowsState } from './flows-state.ts'

/** Nodes send hellos once a second. */
const SILENT_MS = 10_000
/** The process writes its state once a second. */
const STALE_MS = 10_000
/** Reported for this long, since an operator who asks about lost connections asks soon after. */
const MISS_TOLD_MS = 15 * 60_000
/** A group has at most 254 nodes. Naming some of the silent ones is enough to start with. */
const MOST_NAMED = 16

/** The state of `spout-flows` as a node reports it. Its size is bounded. */
export function flowsReport(state: FlowsState, nowMs: number): FlowsReport {
  const { domains, peers } = state
  const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0)
  const silent = peers.filter(({ silentMs }) => silentMs > SILENT_MS)
  return {
    carried: sum(domains, ({ local }) => local),
    ready: sum(domains, ({ remote }) => remote),
    refused: sum(domains, ({ refused }) => refused),
    insisted: sum(domains, ({ insisted }) => insisted),
    missed: sum(domains, ({ missed = 0 }) => missed),
    lastMiss: lastMiss(state, nowMs),
    datagrams: {
      sent: sum(peers, ({ sent }) => sent),
      received: sum(peers, ({ received }) => received),
      lost: sum(peers, ({ lost }) => lost),
      refused: sum(peers, ({ refused }) => refused) + state.strangers,
    },
    peers: peers.length,
    silent: silent.length,
    silentPeers: silent.slice(0, MOST_NAMED).map(({ address, lastHeardMs }) => ({
      address,
      lastHeard: lastHeardMs === null ? null : new Date(lastHeardMs).toISOString(),
    })),
    error: whyNot(state, nowMs),
  }
}

function lastMiss({ domains }: FlowsState, nowMs: number): FlowsReport['lastMiss'] {
  const misses = domains.flatMap((domain) => domain.lastMiss ?? [])
  if (misses.length === 0) return null
  const { atMs, expected, came } = misses.reduce((last, miss) => (miss.atMs > last.atMs ? miss : last))
  return nowMs - atMs > MISS_TOLD_MS ? null : { at: new Date(atMs).toISOString(), expected, came }
}

/** The report if the process does not run, or has not written its state yet. */
export const unheard = (error: string | null): FlowsReport => ({
  ...{
    carried: 0,
    ready: 0,
    refused: 0,
    insisted: 0,
    missed: 0,
    lastMiss: null,
    peers: 0,
    silent: 0,
    silentPeers: [],
    error,
  },
  datagrams: { sent: 0, received: 0, lost: 0, refused: 0 },
})

function whyNot({ error, domains, writtenMs }: FlowsState, nowMs: number): string | null {
  if (nowMs - writtenMs > STALE_MS) return `spout-flows has said nothing since ${new Date(writtenMs).toISOString()}`
  if (error !== null) return error
  const broken = domains.filter((domain) => domain.error !== null)
  const [first] = broken
  if (first === undefined) return null
  const more = broken.length === 1 ? '' : `, and ${broken.length - 1} more`
  return `domain ${first.domain}: ${first.error}${more}`
}
