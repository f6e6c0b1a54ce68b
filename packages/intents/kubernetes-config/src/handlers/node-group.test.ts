import { expect, it } from 'vitest'
import { type NodeSelection, NodeSelections } from '../nodes/node-selections.ts'
import { conditionsOf, fabricFound } from './node-group.ts'

const told = (selection: Partial<NodeSelection>) => {
  const selections = new NodeSelections()
  selections.set(new Map([['edge', { here: [], coming: [], refused: [], ...selection }]]))
  return conditionsOf('edge', selections).map(({ status, reason, message }) => [status, reason, message])
}

it('a selector says which nodes it has, which come, and which cannot', () => {
  expect(told({})).toEqual([['True', 'Selected', 'It selects no node.']])
  expect(told({ here: ['n1', 'n2'] })).toEqual([['True', 'Selected', 'It selects n1, n2.']])
  expect(told({ here: ['n1'], coming: ['n2'] })).toEqual([
    ['False', 'NodesMove', 'Coming once others have their addresses: n2.'],
  ])
  const refused = ['n3 is selected by edge and twin: it stays in default.']
  expect(told({ coming: ['n2'], refused })).toEqual([['False', 'SelectedTwice', refused[0]]])
})

it('a selector that nobody follows says so, and one that was not looked at yet nothing', () => {
  expect(conditionsOf('edge', null)).toMatchObject([{ status: 'False', reason: 'NotFollowed' }])
  expect(conditionsOf('edge', new NodeSelections())).toEqual([])
})

it('a group says which nodes lack its interface, and why', () => {
  const node = (name: string, ...problems: { code: string; message: string }[]) => ({
    ...{ id: name, name, description: '' },
    status: { connection: 'connected', problems },
  })
  const planned = { code: 'FabricMissing', message: 'It has not taken the fabric interface.' }
  const own = { code: 'FabricMissing', message: 'the node has no interface edge0' }
  expect(fabricFound([node('n1'), node('n2', { code: 'FlowsSilent', message: 'x' })])).toMatchObject({ status: 'True' })
  expect(fabricFound([node('n1', planned, own), node('n2', planned), node('n3')])).toMatchObject({
    ...{ type: 'FabricFound', status: 'False', reason: 'FabricMissing' },
    message: 'n1: the node has no interface edge0; n2: It has not taken the fabric interface.',
  })
})

it('only groups whose selection has changed are looked at again', () => {
  const selections = new NodeSelections()
  const changed: string[] = []
  selections.onChange((group) => changed.push(group))
  const nothing = { here: [], coming: [], refused: [] }
  selections.set(new Map([['edge', nothing]]))
  selections.set(
    new Map([
      ['edge', { ...nothing }],
      ['core', nothing],
    ]),
  )
  selections.set(new Map([['core', nothing]]))
  expect(changed).toEqual(['edge', 'core', 'edge'])
})
