import { fileURLToPath } from 'node:url'
import { TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, CLIENT, vipOf } from './fixtures.ts'

/** An SCTP endpoint over raw sockets: the lab's kernel has no SCTP. */
const ENDPOINT = fileURLToPath(new URL('../packages/dataplane/src/testing/sctp_peer.py', import.meta.url))
const MEMBERS = ['tenant-a-member1', 'tenant-a-member2', 'tenant-b-member1', 'tenant-b-member2']

let system: TestSystem

beforeAll(async () => {
  // One node: an association whose shard moves on the way may be counted by both.
  system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: ['node1'] })
  for (const place of MEMBERS)
    await system.lab.start(place, `sctp-${place}`, ['python3', ENDPOINT, 'serve', place, '3900'], {
      readyText: 'ready',
    })
})

afterAll(() => system?.destroy())

describe.each([
  ['gateway', 0, 'tenant-a'],
  ['snat', 1, 'tenant-b'],
] as const)('SCTP, return path %s', (path, index, segment) => {
  it('associations with the VIP are with members, over one port with TCP', async () => {
    const tenant = system.tenants[index]!
    const members = [11, 12].map((last) => ({ address: `10.0.0.${last}`, port: 3900 }))
    const monitor = { type: 'sctp', intervalMs: 200, timeoutMs: 200, rise: 1, fall: 1 }
    const shown = await system.createLoadBalancer(tenant, {
      name: 'diameter',
      listeners: [
        { protocol: 'sctp', port: 3868, defaultPool: 'sctp' },
        { protocol: 'tcp', port: 3868, defaultPool: 'tcp' },
      ],
      pools: [
        { name: 'sctp', protocol: 'sctp', members, monitor },
        { name: 'tcp', protocol: 'tcp', members: [{ address: '10.0.0.11', port: 9000 }] },
      ],
    })
    await waitFor(
      async () => {
        const health = Object.values((await system.loadBalancer(tenant, shown.id)).status.members)
        return health.filter((one) => one.health === 'up').length === 2
      },
      { what: 'both members to take up associations' },
    )
    const asked = Array.from({ length: 16 }, async (_, at) => {
      const words = ['python3', ENDPOINT, 'ask', vipOf(shown), '3868', String(30_000 + at), '20']
      return JSON.parse(await system.lab.must('client', words)) as { from: string; port: number; line: string }
    })
    const answers = await Promise.all(asked)
    for (const answer of answers) expect(answer).toMatchObject({ from: vipOf(shown), port: 3868 })
    const told = answers.map(({ line }) => line.split(' '))
    expect([...new Set(told.map(([name]) => name))].toSorted()).toEqual([`${segment}-member1`, `${segment}-member2`])
    if (path === 'gateway') expect(new Set(told.map(([, from]) => from))).toEqual(new Set([CLIENT]))
    const listener = shown.listeners[0]!.id
    await waitFor(
      async () => {
        const { stats } = (await system.loadBalancer(tenant, shown.id)).status
        expect(stats[listener]?.totalConnections).toBe(16)
        return true
      },
      { what: 'the associations to be counted' },
    )
  })
})
