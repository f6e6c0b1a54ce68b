import { GROUP_LABEL } from '@spout/custom-resources'
import { expect, it } from 'vitest'
import type { SelectingGroup } from './chosen-group.ts'
import { type GroupedNode, planMoves } from './planned-moves.ts'

const GROUPS = ['default', 'edge', 'twin'].map((name) => ({ id: `id-${name}`, name }))
const EDGE: SelectingGroup = { name: 'edge', nodeSelector: { matchLabels: { pool: 'edge' } } }
const node = (name: string, more: Partial<GroupedNode> = {}): GroupedNode => ({
  ...{ id: name, name, labels: { pool: 'edge' }, nodeGroupId: 'id-default', isConnected: true, isLeaving: false },
  ...more,
})
const targets = (...nodes: readonly GroupedNode[]) =>
  Object.fromEntries([...planMoves(nodes, [EDGE], GROUPS).targets].map(([id, { name }]) => [id, name]))

it('one node of a group leaves at a time, and one that is leaving goes on', () => {
  expect(targets(node('n2'), node('n1'))).toEqual({ n1: 'edge' })
  expect(targets(node('n2', { isLeaving: true }), node('n1'))).toEqual({ n2: 'edge' })
})

it('nodes of different groups leave together', () => {
  expect(targets(node('n1'), node('n2', { labels: {}, nodeGroupId: 'id-edge' }))).toEqual({ n1: 'edge', n2: 'default' })
})

it('a node that is not connected does not begin to leave, and keeps no other from leaving', () => {
  expect(targets(node('n1', { isConnected: false }), node('n2'))).toEqual({ n2: 'edge' })
  const silent = node('n1', { isConnected: false, isLeaving: true })
  expect(targets(silent, node('n2'))).toEqual({ n1: 'edge', n2: 'edge' })
})

it('the selections say who is here, who comes, and who is selected twice', () => {
  const twin: SelectingGroup = {
    name: 'twin',
    nodeSelector: { matchExpressions: [{ key: 'both', operator: 'Exists' }] },
  }
  const nodes = [
    node('n1', { nodeGroupId: 'id-edge' }),
    node('n2'),
    node('n3', { labels: { pool: 'edge', both: '' } }),
    node('n4', { labels: {} }),
  ]
  const refused = ['n3 is selected by edge and twin: it stays in default.']
  expect(Object.fromEntries(planMoves(nodes, [EDGE, twin], GROUPS).selections)).toEqual({
    edge: { here: ['n1'], coming: ['n2'], refused },
    twin: { here: [], coming: [], refused },
  })
})

it('a node whose label names no group stays where it is, and the plan says so', () => {
  const { targets: moves, unknown } = planMoves([node('n1', { labels: { [GROUP_LABEL]: 'egde' } })], [EDGE], GROUPS)
  expect(moves.size).toBe(0)
  expect(unknown).toEqual(new Map([['n1', 'It stays in node group default: there is no node group egde.']]))
})
