import { describe, expect, it } from 'vitest'
import { type PlannedNode, placeOwner } from './place.ts'

const node = (id: string, fields: Partial<PlannedNode> = {}): PlannedNode => ({
  id,
  name: id,
  scheduling: 'enabled',
  connection: 'connected',
  features: ['l4.tcp', 'l4.udp'],
  loadBalancers: 0,
  ...fields,
})
const place = (
  nodes: readonly PlannedNode[],
  previousOwnerId: string | null,
  needs: readonly string[] = ['l4.tcp'],
  leftNodeId?: string,
) =>
  placeOwner({
    groupName: 'default',
    nodes,
    previousOwnerIds: previousOwnerId === null ? [] : [previousOwnerId],
    needs,
    leftNodeId,
    previous: null,
  })

describe('placeOwner', () => {
  it.each<[string, readonly PlannedNode[], string | null, string | null, string]>([
    [
      'takes the least loaded node',
      [node('n1', { loadBalancers: 2 }), node('n2', { loadBalancers: 1 })],
      null,
      'n2',
      'Placed',
    ],
    ['takes the first of equals', [node('n2'), node('n1')], null, 'n1', 'Placed'],
    ['stays, however loaded', [node('n1', { loadBalancers: 99 }), node('n2')], 'n1', 'n1', 'Placed'],
    ['stays on a cordoned node', [node('n1', { scheduling: 'cordoned' }), node('n2')], 'n1', 'n1', 'Placed'],
    [
      'avoids cordoned nodes for what is new',
      [node('n1', { scheduling: 'cordoned' }), node('n2')],
      null,
      'n2',
      'Placed',
    ],
    ['leaves a draining node', [node('n1', { scheduling: 'draining' }), node('n2')], 'n1', 'n2', 'Placed'],
    ['stays on a draining node without another', [node('n1', { scheduling: 'draining' })], 'n1', 'n1', 'NoOtherNode'],
    ['stays on a silent node', [node('n1', { connection: 'disconnected' }), node('n2')], 'n1', 'n1', 'WaitingForNode'],
    ['leaves a lost node', [node('n1', { connection: 'lost' }), node('n2')], 'n1', 'n2', 'Placed'],
    ['waits for a lost node without another', [node('n1', { connection: 'lost' })], 'n1', 'n1', 'NoNodeAvailable'],
    ['leaves a deleted node', [node('n2')], 'n1', 'n2', 'Placed'],
    ['finds nobody in an empty group', [], null, null, 'NoNodeAvailable'],
    [
      'finds nobody while all are silent',
      [node('n1', { connection: 'disconnected' }), node('n2', { connection: 'never' })],
      null,
      null,
      'NoNodeAvailable',
    ],
    ['takes a node that can do it', [node('n1', { features: ['l7.http'] }), node('n2')], null, 'n2', 'Placed'],
    [
      'leaves a node that cannot do it any more',
      [node('n1', { features: ['l7.http'] }), node('n2')],
      'n1',
      'n2',
      'Placed',
    ],
    [
      'stays while the owner has not told what it can do',
      [node('n1', { features: [] }), node('n2')],
      'n1',
      'n1',
      'Placed',
    ],
    [
      'stays on a draining node that has not told what it can do, where no other can do it',
      [node('n1', { features: ['l7.http'] }), node('n2', { scheduling: 'draining', features: [] })],
      'n2',
      'n2',
      'NoOtherNode',
    ],
    ['refuses what no node can do', [node('n1', { features: ['l7.http'] })], null, null, 'FeatureUnavailable'],
  ])('%s', (_what, nodes, previous, nodeId, code) => {
    const owner = place(nodes, previous)
    expect({ nodeId: owner.nodeId, code: owner.reason.code }).toEqual({ nodeId, code })
    expect(owner.refused).toBe(code === 'FeatureUnavailable')
  })

  it.each<[string, readonly PlannedNode[], string | null, string, string]>([
    ['leaves it', [node('n1'), node('n2', { loadBalancers: 9 })], 'n1', 'n2', 'Placed'],
    ['leaves it while it is silent', [node('n1', { connection: 'disconnected' }), node('n2')], 'n1', 'n2', 'Placed'],
    ['stays away from it', [node('n1'), node('n2', { loadBalancers: 9 })], 'n2', 'n2', 'Placed'],
    ['takes a third one', [node('n1'), node('n2', { connection: 'lost' }), node('n3')], 'n2', 'n3', 'Placed'],
    ['returns if nobody else can', [node('n1'), node('n2', { connection: 'lost' })], 'n2', 'n1', 'Placed'],
    ['stays without another', [node('n1'), node('n2', { features: ['l7.http'] })], 'n1', 'n1', 'NoOtherNode'],
  ])('that it was told to leave: %s', (_what, nodes, previous, nodeId, code) => {
    const owner = place(nodes, previous, ['l4.tcp'], 'n1')
    expect({ nodeId: owner.nodeId, code: owner.reason.code }).toEqual({ nodeId, code })
    expect(owner.refused).toBe(false)
  })

  it('keeps refusing until a node says what it can do', () => {
    const reason = { code: 'FeatureUnavailable', message: 'No node of group `default` offers l7.http.' }
    const again = (nodes: readonly PlannedNode[]) =>
      placeOwner({
        groupName: 'default',
        nodes,
        previousOwnerIds: [],
        needs: ['l7.http'],
        previous: { ownerNodeId: null, reason },
      })
    expect(again([node('n1', { features: [] })])).toEqual({ nodeId: null, refused: true, reason })
    expect(again([node('n1', { features: [] }), node('n2')]).reason).toBe(reason)
    expect(again([node('n1', { features: ['l7.http'] })])).toMatchObject({ nodeId: 'n1', refused: false })
    expect(again([])).toMatchObject({ nodeId: null, refused: false, reason: { code: 'NoNodeAvailable' } })
  })

  it('keeps the reason why no other node has it until its owner says what it can do', () => {
    const reason = {
      code: 'NoOtherNode',
      message: 'Node `n1` keeps it: no schedulable node of group `default` offers all of l7.http.',
    }
    const others = [node('n2', { scheduling: 'draining', features: ['l7.http'] })]
    const again = (owner: PlannedNode, previousOwnerId = 'n1') =>
      placeOwner({
        groupName: 'default',
        nodes: [owner, ...others],
        previousOwnerIds: ['n1'],
        needs: ['l7.http'],
        previous: { ownerNodeId: previousOwnerId, reason },
      })
    expect(again(node('n1', { features: [] }))).toEqual({ nodeId: 'n1', refused: false, reason })
    expect(again(node('n1'))).toEqual({ nodeId: 'n1', refused: false, reason })
    expect(again(node('n1', { features: ['l7.http'] })).reason.code).toBe('Placed')
    expect(again(node('n1', { features: [] }), 'n2').reason.code).toBe('Placed')
  })

  it.each([
    [place([], null), 'There is no node in group `default`.'],
    [place([node('n1', { connection: 'lost' })], null), 'No node of group `default` is connected.'],
    [
      place([node('n1', { scheduling: 'draining' })], null),
      'Every connected node of group `default` is cordoned or draining.',
    ],
    [place([node('n1')], null, ['l7.http', 'l4.tcp']), 'No node of group `default` offers l7.http.'],
    [
      place([node('n1', { scheduling: 'draining' })], 'n1'),
      'Node `n1` keeps it: every connected node of group `default` is cordoned or draining.',
    ],
    [place([node('n1')], 'n1', ['l4.tcp'], 'n1'), 'Node `n1` keeps it: no other node of group `default` can carry it.'],
  ])('says why: %#', ({ reason }, message) => expect(reason.message).toBe(message))
})
