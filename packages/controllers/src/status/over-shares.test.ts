import { loadBalancerClass, type OverShareReport, type Serving } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { describe, expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, pool, uuid } from '../testing/model.ts'
import { withOverShares } from './over-shares.ts'

const N1 = uuid('node', 1)
const LB = uuid('lb', 1)
const OTHER = uuid('lb', 2)

const over = (domain: number, share: OverShareReport['share'] = 'packets', limit = 500_000): OverShareReport => ({
  ...{ domain, share, limit },
})

/** Two load balancers of two networks on one node. */
async function twoNetworks() {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(
    ['nodeGroup', nodeGroup(1)],
    ['node', node(1)],
    ['network', network(1)],
    ['network', network(2)],
    ['loadBalancer', loadBalancer(1, { pools: [pool(1, ['10.0.0.11'])] })],
    ['loadBalancer', loadBalancer(2, { networkId: uuid('network', 2), pools: [pool(2, ['10.0.0.12'])] })],
  )
  await plane.report(N1)
  await plane.confirmAll(N1)
  const domainOf = (id: string): number => {
    const entry = plane.nodeStates.get(N1, `lb/${id}`)?.entry
    return entry?.kind === 'load-balancer' ? entry.domain : Number.NaN
  }
  return { plane, domainOf }
}

test('a network over its share is shown on its load balancers only, and not once it is within it', async () => {
  const { plane, domainOf } = await twoNetworks()
  const told: string[] = []
  plane.status.onChange((kind, id) => {
    if (kind === 'loadBalancer') told.push(id)
  })
  const before = plane.status.summary(OTHER).serving
  await plane.report(N1, { overShares: [over(domainOf(LB))] })
  expect(plane.status.summary(LB).serving).toMatchObject({
    ...{ state: 'partly', reason: 'OverShare' },
    message: expect.stringMatching(/^Node \S+ drops packets of its network: more than 500,000 arrive per second\. /),
  })
  expect(plane.status.summary(OTHER).serving).toEqual(before)
  expect(new Set(told)).toEqual(new Set([LB]))
  // A report without `overShares` changes nothing.
  await plane.report(N1)
  expect(plane.status.summary(LB).serving.reason).toBe('OverShare')
  await plane.report(N1, { overShares: [] })
  expect(plane.status.summary(LB).serving.reason).not.toBe('OverShare')
  await plane.stop()
})

test('a proxy that was ended for lack of memory is worse than one that is near it', async () => {
  const { plane, domainOf } = await twoNetworks()
  const memory = over(domainOf(LB), 'memory', 256 * 1024 ** 2)
  await plane.report(N1, { overShares: [{ ...memory, refused: false }] })
  expect(plane.status.summary(LB).serving.message).toContain(' will end its proxy if ')
  await plane.report(N1, { overShares: [{ ...memory, refused: true }] })
  expect(plane.status.summary(LB).serving.message).toContain(' ended its proxy, ')
  await plane.stop()
})

test('a proxy of one load balancer alone concerns no other, and the shared one not it', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  const own = loadBalancerClass.parse({
    ...{
      id: uuid('other', 1),
      name: 'own',
      description: '',
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: null,
      enabled: true,
    },
    ...{ nodeGroupId: null, connectionLimit: null, monitor: null, dedicatedProxy: { memoryMegabytes: 64 } },
  })
  await plane.put(
    ['nodeGroup', nodeGroup(1)],
    ['node', node(1)],
    ['network', network(1)],
    ['loadBalancerClass', own],
    ['loadBalancer', loadBalancer(1, { pools: [pool(1, ['10.0.0.11'])], classId: own.id })],
    ['loadBalancer', loadBalancer(2, { pools: [pool(2, ['10.0.0.12'])] })],
  )
  await plane.report(N1)
  await plane.confirmAll(N1)
  const entry = plane.nodeStates.get(N1, `lb/${LB}`)?.entry
  if (entry?.kind !== 'load-balancer') throw new Error('it is not planned')
  expect(entry.dedicatedProxy).toEqual({ memoryMegabytes: 64 })
  const messageOf = (id: string) => plane.status.summary(id).serving.message
  await plane.report(N1, { overShares: [{ ...over(entry.domain, 'memory', 64 * 1024 ** 2), loadBalancerId: LB }] })
  expect(messageOf(LB)).toContain(
    'will end its own proxy if it needs more memory: it has nearly reached its limit of 64 MB',
  )
  expect(messageOf(OTHER)).not.toContain('proxy')
  await plane.report(N1, { overShares: [over(entry.domain, 'connections', 4_000), over(entry.domain, 'bytes')] })
  expect(messageOf(LB)).not.toContain('proxy')
  expect(messageOf(LB)).toContain('bytes arrive')
  expect(messageOf(OTHER)).toContain('connections to its proxy')
  await plane.stop()
})

test('a node reports shares only of networks that it has', async () => {
  const { plane, domainOf } = await twoNetworks()
  await plane.report(N1, { overShares: [over(9_999), over(domainOf(LB), 'bytes', 1_000)] })
  expect(plane.status.ignored(N1)).toBe(1)
  expect(plane.status.summary(LB).serving.message).toContain('more than 1,000 bytes arrive per second')
  await plane.stop()
})

test('a restarted agent that reports no shares withdraws its report', async () => {
  const { plane, domainOf } = await twoNetworks()
  await plane.report(N1, { overShares: [over(domainOf(LB))] })
  await plane.report(N1, { session: 'session-2', sequence: 1, inSync: true })
  expect(plane.status.summary(LB).serving.reason).not.toBe('OverShare')
  await plane.stop()
})

describe('words', () => {
  const serving: Serving = {
    state: 'yes',
    reason: 'Serving',
    message: '2 of 2 members answer.',
    membersUp: 2,
    members: 2,
  }
  const onNode = { nodeName: 'n1', ...over(1, 'flows', 262_144) }

  test('members that are down come first, because they are worse', () => {
    const down: Serving = { ...serving, state: 'no', reason: 'AllMembersDown', message: 'Nobody answers.' }
    expect(withOverShares(down, [onNode])).toEqual({
      ...down,
      message:
        'Nobody answers. Node n1 drops connections of its network to make room for new ones: it has reached its limit of 262,144.',
    })
  })

  test('a delayed proxy shows its limit', () => {
    const held = { nodeName: 'n1', ...over(1, 'processors', 0.5) }
    expect(withOverShares(serving, [held]).message).toBe(
      'Node n1 slows down its proxy, which needs more than its limit of processor time (processors: 0.5). 2 of 2 members answer.',
    )
  })

  test.each([
    [true, 'ended its proxy, which exceeded its memory limit of 256 MB, and started it again'],
    [false, 'will end its proxy if it needs more memory: it has nearly reached its limit of 256 MB'],
    [undefined, 'will end its proxy if it needs more memory: it has nearly reached its limit of 256 MB'],
  ] as const)('memory of a proxy, refused more: %s', (refused, words) => {
    const onMemory = {
      nodeName: 'n1',
      ...over(1, 'memory', 256 * 1024 ** 2),
      ...(refused !== undefined && { refused }),
    }
    expect(withOverShares(serving, [onMemory])).toMatchObject({
      ...{ state: 'partly', reason: 'OverShare', message: `Node n1 ${words}. 2 of 2 members answer.` },
    })
  })

  test('a proxy at its limit of connections', () => {
    const full = { nodeName: 'n1', ...over(1, 'connections', 4_000) }
    expect(withOverShares(serving, [full]).message).toBe(
      'Node n1 accepts no more connections to its proxy for now: it has reached its limit of 4,000. 2 of 2 members answer.',
    )
  })

  test('without a node over its share nothing changes', () => {
    expect(withOverShares(serving, [])).toBe(serving)
  })
})
