import { describe, expect, it } from 'vitest'
import { flowsReport } from './flows-report.ts'
import type { DomainFlows, FlowsState, PeerFlows } from './flows-state.ts'

const NOW = Date.parse('2026-01-01T00:01:00.000Z')

const domain = (number: number, error: string | null = null): DomainFlows => ({
  ...{ domain: number, local: 3, remote: 4, refused: 1, insisted: 2, promised: 4, missed: 5, lastMiss: null, error },
})
const peer = (last: number, silentMs: number, lastHeardMs: number | null): PeerFlows => ({
  ...{ address: `192.0.2.${last}`, silentMs, sent: 10, received: 9, lost: 2, refused: 1, lastHeardMs },
})
const state = (changes: Partial<FlowsState> = {}): FlowsState => ({
  ...{ pid: 7, writtenMs: NOW - 900, error: null, strangers: 5 },
  domains: [domain(1), domain(2)],
  peers: [peer(2, 400, NOW - 400), peer(3, 11_000, NOW - 11_000), peer(4, 60_000, null)],
  ...changes,
})

describe('flowsReport', () => {
  it('sums over domains and peers, and names who is silent', () => {
    expect(flowsReport(state(), NOW)).toEqual({
      carried: 6,
      ready: 8,
      refused: 2,
      insisted: 4,
      missed: 10,
      lastMiss: null,
      datagrams: { sent: 30, received: 27, lost: 6, refused: 8 },
      peers: 3,
      silent: 2,
      silentPeers: [
        { address: '192.0.2.3', lastHeard: '2026-01-01T00:00:49.000Z' },
        { address: '192.0.2.4', lastHeard: null },
      ],
      error: null,
    })
  })

  it('stays small whatever there is', () => {
    const peers = Array.from({ length: 253 }, (_, at) => peer(at + 1, 20_000, null))
    const domains = Array.from({ length: 2000 }, (_, at) => domain(at + 1, 'namespace gone'))
    const report = flowsReport(state({ peers, domains }), NOW)
    expect(report).toMatchObject({ peers: 253, silent: 253, error: 'domain 1: namespace gone, and 1999 more' })
    expect(report.silentPeers).toHaveLength(16)
  })

  it('tells of the newest address that came without its flows, for a while', () => {
    const missed = (number: number, ago: number, came: number): DomainFlows => ({
      ...domain(number),
      lastMiss: { atMs: NOW - ago, expected: 1100, came },
    })
    const domains = [domain(1), missed(2, 20_000, 1), missed(3, 10_000, 0), missed(4, 30_000, 2)]
    const lastMiss = { at: '2026-01-01T00:00:50.000Z', expected: 1100, came: 0 }
    expect(flowsReport(state({ domains }), NOW).lastMiss).toEqual(lastMiss)
    expect(flowsReport(state({ domains: [missed(1, 16 * 60_000, 0)] }), NOW).lastMiss).toBe(null)
  })

  it('understands the account of a program of before', () => {
    const { promised: _promised, missed: _missed, lastMiss: _lastMiss, ...before } = domain(1)
    expect(flowsReport(state({ domains: [before] }), NOW)).toMatchObject({ carried: 3, missed: 0, lastMiss: null })
  })

  it('says when the account is old, and what the program says of itself', () => {
    expect(flowsReport(state({ error: 'listening: Address in use' }), NOW).error).toBe('listening: Address in use')
    const old = flowsReport(state({ writtenMs: NOW - 11_000, error: 'listening: Address in use' }), NOW)
    expect(old.error).toBe('spout-flows has said nothing since 2026-01-01T00:00:49.000Z')
  })
})
