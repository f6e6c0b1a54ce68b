import type { LoadBalancer, Network, Pool } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { PlacementIndex } from '../node-state/placement-index.ts'
import { planLoadBalancer } from '../node-state/plan-load-balancer.ts'
import type { PlannedNode } from '../placement/place.ts'
import { id, listener, loadBalancer, member, network, pool } from '../testing/documents.ts'
import type { Planned } from './compared.ts'
import { planDifference } from './plan-difference.ts'

const FEATURES = ['l4.tcp', 'l4.udp', 'l4.sctp', 'l7.http', 'l7.tcp-proxy', 'dsr']
const node = (number: number, fields: Partial<PlannedNode> = {}): PlannedNode => ({
  ...{ id: id(0xa00 + number), name: `n${number}`, scheduling: 'enabled', connection: 'connected' },
  ...{ features: FEATURES, loadBalancers: 0, ...fields },
})

interface Around {
  readonly returnPath?: Network['returnPath']
  readonly nodes?: readonly PlannedNode[]
}

/** Plans two versions, as the control plane does: the second on top of the first. */
function difference(before: LoadBalancer | null, after: LoadBalancer | null, around: Around = {}, then = around) {
  const index = new PlacementIndex()
  const planned = (one: LoadBalancer | null, { returnPath = 'snat', nodes = [node(1), node(2)] }: Around) => {
    if (one === null) return null
    const plan = planLoadBalancer({
      ...{ loadBalancer: one, network: network(one.networkId === id(3) ? 3 : 2, { returnPath }) },
      ...{ group: { name: 'default', nodes }, announcing: { via: 'l2' }, previous: index.get(one.id) },
      ...{ connectionLimit: null, certificateOf: () => null, gatewayOwnerIds: [] },
      freePoolNumber: (number) => index.freePoolNumber(id(2), number),
      now: '2026-01-01T00:00:00.000Z',
    })
    index.put(plan.placement)
    return { loadBalancer: one, plan, returnPath } satisfies Planned
  }
  const [was, is] = [planned(before, around), planned(after, then)]
  return planDifference(was, is, (nodeId) => `n${Number.parseInt(nodeId.slice(-2), 16)}`)
}

const [first, second] = [member(1), member(2, { name: 'second' })]
const web = (members = [first, second], fields: Partial<Pool> = {}) => pool(0x20, members, { name: 'web', ...fields })
const lb = (protocol: 'tcp' | 'udp' | 'http' | 'tcp-proxy', one = web(), port = 80): LoadBalancer =>
  loadBalancer(0x10, {
    pools: [{ ...one, protocol }],
    listeners: [listener(0x30, port, { protocol, defaultPoolId: one.id, name: 'in' })],
  })
const fatesOf = ({ connections }: ReturnType<typeof difference>) =>
  connections.map(({ fate, code, afterSeconds }) => [fate, code, afterSeconds])

describe('open connections', () => {
  const lighter = web([first, { ...second, weight: 7 }])
  const drained = web([first, { ...second, weight: 0 }])
  const left = web([first])
  test.each<[string, LoadBalancer, LoadBalancer | null, readonly (readonly unknown[])[]]>([
    ['a name', lb('tcp'), { ...lb('tcp'), name: 'other' }, []],
    ['a weight', lb('tcp'), lb('tcp', lighter), []],
    ['a new member', lb('tcp', left), lb('tcp'), []],
    ['a member that leaves', lb('tcp'), lb('tcp', left), [['drain', 'MembersLeave', 300]]],
    ['a member that gets weight 0', lb('udp'), lb('udp', drained), [['drain', 'MembersLeave', 300]]],
    ['the same in the proxy', lb('http'), lb('http', left), [['drain', 'MembersLeave', 300]]],
    [
      'a member that leaves at once',
      lb('tcp', web(undefined, { drainSeconds: 0 })),
      lb('tcp', web([first], { drainSeconds: 0 })),
      [['end', 'MembersLeave', 0]],
    ],
    ['another port', lb('tcp'), lb('tcp', web(), 81), [['stay', 'PortChanges', null]]],
    ['no listener', lb('tcp'), { ...lb('tcp'), listeners: [] }, [['stay', 'ListenerLeaves', null]]],
    ['no listener in the proxy', lb('http'), { ...lb('http'), listeners: [] }, [['drain', 'MembersLeave', 300]]],
    ['another protocol', lb('tcp'), lb('tcp-proxy'), [['end', 'ProtocolChanges', null]]],
    ['a disabled load balancer', lb('tcp'), { ...lb('tcp'), enabled: false }, [['may-end', 'Disabled', null]]],
    ['a network of others', lb('tcp'), { ...lb('tcp'), networkId: id(3) }, [['end', 'NetworkChanges', null]]],
    ['a deletion', lb('tcp'), null, [['end', 'Deleted', null]]],
  ])('at %s', (_what, before, after, fates) => {
    expect(fatesOf(difference(before, after))).toEqual(fates)
  })

  test('of an address that goes end, and those that end come first', () => {
    const two = { ...lb('tcp'), vips: [...lb('tcp').vips, { ...lb('tcp').vips[0]!, address: '192.0.2.99' }] }
    const { connections } = difference(two, lb('tcp', left))
    expect(connections.map(({ fate, message }) => [fate, message.split(':')[0]])).toEqual([
      ['end', '192.0.2.99'],
      ['drain', 'No new connections. Open ones go on, and are cut when the time is over.'],
    ])
  })

  test('follow the hash slots where nodes keep no state of flows', () => {
    const { connections, parts } = difference(lb('tcp'), lb('tcp', lighter), { returnPath: 'dsr' })
    const moved = parts[0]?.slots?.moved ?? 0
    expect(moved).toBeGreaterThan(0)
    expect(connections).toMatchObject([
      { fate: 'end', code: 'SlotsMove', message: expect.stringContaining(`${moved} of`) },
    ])
    expect(fatesOf(difference(lb('tcp'), lb('tcp', web(), 81), { returnPath: 'dsr' }))).toEqual([
      ['end', 'PortChanges', null],
    ])
  })

  test('may end where the addresses move to another node', () => {
    const nodes = [node(1, { scheduling: 'draining' }), node(2)]
    const { owner, connections, nodes: told } = difference(lb('tcp'), lb('tcp'), {}, { nodes })
    expect(owner).toEqual({ before: 'n1', after: 'n2' })
    expect(connections).toMatchObject([{ fate: 'may-end', code: 'AddressMoves' }])
    expect(told.map(({ announces }) => announces)).toEqual([
      { before: true, after: false },
      { before: false, after: true },
    ])
  })

  test('end where no node can carry it', () => {
    expect(fatesOf(difference(lb('tcp'), lb('http'), { nodes: [node(1, { features: ['l4.tcp'] })] }))).toEqual([
      ['end', 'NotCarried', null],
    ])
  })

  test('of thousands of members are told by a hundred of them and their number', () => {
    const many = Array.from({ length: 2000 }, (_, n) => ({
      ...member(0x1000 + n),
      address: `10.0.${n >> 8}.${n & 255}`,
    }))
    const { connections, parts } = difference(lb('http', web(many)), lb('http', web([])))
    expect(connections).toMatchObject([{ memberCount: 2000, members: { length: 100 } }])
    expect(parts).toMatchObject([{ memberChanges: 2000, members: { length: 100 } }])
  })
})

describe('parts and nodes', () => {
  test('a new load balancer is added with all its parts', () => {
    expect(difference(null, lb('http'))).toMatchObject({
      owner: { before: null, after: 'n1' },
      nodes: [
        { nodeName: 'n1', change: 'added', announces: { before: false, after: true }, proxy: 'may-restart' },
        { nodeName: 'n2', change: 'added', announces: { before: false, after: false } },
      ],
      parts: [
        { part: 'listener', name: 'in', change: 'added' },
        { part: 'pool', name: 'web', change: 'added', memberChanges: 2 },
      ],
    })
  })

  test('fields are named in words, members with their weights', () => {
    const after = lb('tcp', web([first, { ...second, weight: 3 }], { algorithm: 'source-ip' }), 81)
    expect(difference(lb('tcp'), after).parts).toMatchObject([
      { part: 'listener', fields: ['port'] },
      {
        part: 'pool',
        fields: ['algorithm', 'persistence'],
        members: [{ name: 'second', change: 'changed', weight: { before: 1, after: 3 } }],
      },
    ])
  })

  test.each<[string, LoadBalancer, string]>([
    ['nothing of the proxy', { ...lb('http'), name: 'other' }, 'unchanged'],
    ['members', lb('http', web([first])), 'run-time'],
    ['another algorithm', lb('http', web(undefined, { algorithm: 'least-connections' })), 'may-restart'],
  ])('the proxy of a change of %s', (_what, after, proxy) => {
    expect(difference(lb('http'), after).nodes.map((told) => told.proxy)).toEqual([proxy, proxy])
  })

  test('what matters to no node changes nothing there', () => {
    expect(difference(lb('tcp'), { ...lb('tcp'), description: 'other', generation: 2 })).toMatchObject({
      nodes: [{ change: 'unchanged' }, { change: 'unchanged' }],
      parts: [],
    })
  })
})
