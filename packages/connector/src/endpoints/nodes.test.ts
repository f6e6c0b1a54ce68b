import { AUTOSCALER_TAINT, EXCLUDE_NODE_LABEL } from '@spout/kube'
import { expect, test } from 'vitest'
import { node } from '../testing/objects.ts'
import { eligibleNodes, nodeMembers } from './nodes.ts'
import { podRoutes } from './pod-routes.ts'

const status = (conditions: { type: string; status: 'True' | 'False' | 'Unknown' }[]) => ({
  status: { addresses: [{ type: 'InternalIP' as const, address: '10.0.0.1' }], conditions },
})

test.each([
  ['a plain one, without providerID', {}, true],
  ['labelled out, value ignored', { metadata: { name: 'n', labels: { [EXCLUDE_NODE_LABEL]: 'false' } } }, false],
  ['being deleted', { metadata: { name: 'n', deletionTimestamp: 'x' } }, false],
  [
    'about to be removed by the autoscaler',
    { spec: { taints: [{ key: AUTOSCALER_TAINT, effect: 'NoSchedule' }] } },
    false,
  ],
  [
    'cordoned',
    { spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] } },
    true,
  ],
  ['not ready (KEP-3458)', status([{ type: 'Ready', status: 'False' }]), true],
  ['unknown (KEP-3458)', status([{ type: 'Ready', status: 'Unknown' }]), true],
  ['without network', status([{ type: 'NetworkUnavailable', status: 'True' }]), false],
  ['with network', status([{ type: 'NetworkUnavailable', status: 'False' }]), true],
  ['without an address', { status: {} }, false],
] as const)('node: %s', (_, more, wanted) => {
  expect(eligibleNodes([node('n', '10.0.0.1', more as object)]).length === 1).toBe(wanted)
})

test('members and routes by family', () => {
  const dual = node('b', '', {
    spec: { podCIDRs: ['10.1.2.0/24', 'fd00:2::/64', 'nonsense'] },
    status: {
      addresses: [
        { type: 'Hostname', address: 'b' },
        { type: 'InternalIP', address: '10.0.0.2' },
        { type: 'InternalIP', address: 'fd01::2' },
      ],
    },
  })
  const single = node('a', '10.0.0.1', { spec: { podCIDR: '10.1.1.0/24' } })
  const nodes = eligibleNodes([dual, single])
  expect(nodeMembers(nodes, [4], 30080, null).map(({ address }) => address)).toEqual(['10.0.0.1', '10.0.0.2'])
  expect(nodeMembers(nodes, [4, 6], 30080, null)).toHaveLength(3)
  // The same nodes for another Service.
  expect(nodeMembers(nodes, [4], 30081, 10_256).map(({ port, monitorPort }) => [port, monitorPort])).toEqual([
    [30081, 10_256],
    [30081, 10_256],
  ])
  expect(podRoutes([dual, single])).toEqual([
    { to: '10.1.1.0/24', via: '10.0.0.1', node: 'a' },
    { to: '10.1.2.0/24', via: '10.0.0.2', node: 'b' },
    { to: 'fd00:2::/64', via: 'fd01::2', node: 'b' },
  ])
})

test('pods that are reached by one router: the prefixes of the nodes, or configured ones', () => {
  const nodes = [
    node('a', '10.0.0.1', { spec: { podCIDRs: ['10.1.1.0/24', 'fd00:1::/64'] } }),
    node('b', '10.0.0.2', { spec: { podCIDRs: ['10.1.2.0/24', 'nonsense'] } }),
  ]
  const routers = ['100.127.0.1', 'fd73::1']
  expect(podRoutes(nodes, { routers, podCidrs: [] })).toEqual([
    { to: '10.1.1.0/24', via: '100.127.0.1', node: 'a' },
    { to: '10.1.2.0/24', via: '100.127.0.1', node: 'b' },
    { to: 'fd00:1::/64', via: 'fd73::1', node: 'a' },
  ])
  expect(podRoutes(nodes, { routers, podCidrs: ['10.0.0.0/8'] })).toEqual([{ to: '10.0.0.0/8', via: '100.127.0.1' }])
  // Without a router of a family there is no route.
  expect(podRoutes(nodes, { routers: ['fd73::1'], podCidrs: ['10.0.0.0/8'] })).toEqual([])
})
