import { describe, expect, it } from 'vitest'
import { flowsReport } from './flows-report.ts'
import type { DomainFlows, FlowsState, PeerFlows } from './flows-state.ts'

const NOW = Date.parse('2026-01-01T00:01:00.000Z')

const domain = (number: number, error: string | null = null): DomainFlows => ({
  ...{ domain: number, local: 3, remote: 4, refused: 1, insisted: 2, error },
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

  it('says when the account is old, and what the program says of itself', () => {
    expect(flowsReport(state({ error: 'listening: Address in use' }), NOW).error).toBe('listening: Address in use')
    const old = flowsReport(state({ writtenMs: NOW - 11_000, error: 'listening: Address in use' }), NOW)
    expect(old.error).toBe('spout-flows has said nothing since 2026-01-01T00:00:49.000Z')
  })
})
