import type { FlowsReport } from '@spout/model'
import { expect, test } from 'vitest'
import { flowProblems } from './flow-problems.ts'

const flows = (changes: Partial<FlowsReport> = {}): FlowsReport => ({
  ...{ carried: 1, ready: 2, refused: 0, insisted: 0, peers: 3, silent: 0, silentPeers: [], error: null },
  datagrams: { sent: 1, received: 1, lost: 0, refused: 0 },
  ...changes,
})
const peerAt = (address: string): string | null => (address === '192.0.2.2' ? 'n2' : null)

test('a silent connected peer is a problem, one that is gone is not', () => {
  expect(flowProblems(null, peerAt)).toEqual([])
  expect(flowProblems(flows(), peerAt)).toEqual([])
  const silentPeers = [
    { address: '192.0.2.2', lastHeard: '2026-01-01T00:00:00.000Z' },
    { address: '192.0.2.3', lastHeard: null },
  ]
  expect(flowProblems(flows({ silent: 2, silentPeers }), peerAt)).toEqual([
    {
      code: 'FlowPeerSilent',
      message:
        'Node `n2` (192.0.2.2) was last heard at 2026-01-01T00:00:00.000Z: flows do not outlive either of them. Look at UDP port 7300 between their fabric addresses.',
    },
  ])
})

test('an address that came without its flows is a problem while the node reports it', () => {
  const lastMiss = { at: '2026-01-01T00:00:00.000Z', expected: 1100, came: 0 }
  expect(flowProblems(flows({ missed: 1100, lastMiss }), peerAt)).toEqual([
    {
      code: 'FlowsMissed',
      message:
        'When a shared address came to it at 2026-01-01T00:00:00.000Z, it had 0 of the 1100 flows ready that another node carried: the others ended.',
    },
  ])
  expect(flowProblems(flows({ missed: 1100, lastMiss: null }), peerAt)).toEqual([])
})

test("the program's own error comes first", () => {
  const silentPeers = [{ address: '192.0.2.2', lastHeard: null }]
  expect(flowProblems(flows({ error: 'listening: Address in use', silent: 1, silentPeers }), peerAt)).toMatchObject([
    { code: 'FlowsNotReplicated', message: 'It does not replicate flows: listening: Address in use.' },
    { code: 'FlowPeerSilent', message: expect.stringContaining('was never heard') },
  ])
})
