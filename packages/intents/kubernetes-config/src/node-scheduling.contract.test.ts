import { isDeepStrictEqual } from 'node:util'
import { GROUP_LABEL } from '@spout/custom-resources'
import { type Event, EXCLUDE_NODE_LABEL } from '@spout/kube'
import type { Node } from '@spout/model'
import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConfigBed, openConfigBed, type Running } from './testing/config-bed.fixture.ts'

/** What a real API server says of its nodes, and what the control plane makes of it. */

const NODES = ['n1', 'n2', 'n3'] as const
const STRANGER = 'of-no-cluster'

let bed: ConfigBed
let running: Running
beforeAll(async () => {
  bed = await openConfigBed()
  const { id: nodeGroupId } = await bed.spout.admission.createNodeGroup({ name: 'edge' })
  for (const [index, nodeName] of [...NODES, STRANGER].entries())
    await bed.spout.admission.enrolNamedNode({ nodeName, nodeGroupId }, async () => String(index).repeat(64))
  await bed.spout.admission.createNodeGroup({ name: 'core' })
  for (const name of NODES) {
    await bed.api.create('/api/v1/nodes', { metadata: { name } })
    bed.spout.status.nodes.set(node(name).id, { connection: 'connected' })
  }
  running = bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

const node = (name: string): Node => {
  const found = bed.spout.view.list('node').find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no node ${name}`)
  return found
}
const until = (name: string, scheduling: Node['scheduling'], reason?: string) =>
  bed.until(`${name} to be ${scheduling}`, () => {
    const { scheduling: is, clusterScheduling } = node(name)
    return is === scheduling && clusterScheduling?.reason === reason
  })
const patch = (name: string, body: object) => bed.api.patch(`/api/v1/nodes/${name}`, body)
const label = (name: string, value: string | null) =>
  patch(name, { metadata: { labels: { [EXCLUDE_NODE_LABEL]: value } } })
const deadlock = (name: string, status: 'True' | 'False') =>
  bed.api.patch(`/api/v1/nodes/${name}/status`, {
    status: {
      conditions: [{ type: 'KernelDeadlock', status, reason: 'x', message: 'x', lastTransitionTime: new Date() }],
    },
  })
/** The events of a Node, as `kubectl describe node` shows them. */
const eventsOn = async (name: string) => {
  const { items } = await bed.api.list<Event>('/apis/events.k8s.io/v1/events')
  return items
    .filter(({ regarding }) => regarding?.kind === 'Node' && regarding.name === name)
    .map(({ type, reason, note }) => `${type} ${reason}: ${note}`)
}
const LABELLED = `label ${EXCLUDE_NODE_LABEL}`
const DEADLOCK = 'condition KernelDeadlock is True'

beforeEach(async () => {
  for (const name of NODES) await until(name, 'enabled')
})

describe('a node of the cluster', () => {
  test('is drained while a condition says so, and takes part again afterwards', async () => {
    await deadlock('n1', 'True')
    await until('n1', 'draining', DEADLOCK)
    const { drainedSince } = node('n1')
    expect(drainedSince).not.toBeNull()
    await deadlock('n1', 'False')
    await until('n1', 'enabled')
    expect(node('n1').drainedSince).toBe(drainedSince)
  })

  test.each([
    [
      'a taint',
      { spec: { taints: [{ key: 'example.org/repair', effect: 'NoSchedule' }] } },
      'draining',
      'taint example.org/repair',
    ],
    ['kubectl cordon', { spec: { unschedulable: true } }, 'cordoned', 'it is unschedulable'],
  ] as const)('by %s', async (_, change, scheduling, reason) => {
    await patch('n2', change)
    await until('n2', scheduling, reason)
    await patch('n2', { spec: { taints: null, unschedulable: null } })
    await until('n2', 'enabled')
  })

  test('stays drained for an administrator who asked for it too', async () => {
    await label('n1', '')
    await until('n1', 'draining', LABELLED)
    await bed.spout.admission.setNodeScheduling(node('n1').id, 'draining')
    await label('n1', null)
    await until('n1', 'draining')
    expect(node('n1')).not.toHaveProperty('clusterScheduling')
    await bed.spout.admission.setNodeScheduling(node('n1').id, 'enabled')
  })

  test('stays drained by its cluster, whatever an administrator asks for', async () => {
    await label('n1', '')
    await until('n1', 'draining', LABELLED)
    await bed.spout.admission.setNodeScheduling(node('n1').id, 'enabled')
    expect(node('n1').scheduling).toBe('draining')
    await label('n1', null)
    await until('n1', 'enabled')
  })
})

test('a node moves to the group that its label names once it drains and its proxies have no clients', async () => {
  const groupId = (name: string) => bed.spout.view.list('nodeGroup').find((group) => group.name === name)?.id ?? ''
  const reportsNoClients = () => {
    const { id, drainedSince } = node('n1')
    const departure = { since: drainedSince ?? '', busyProxies: 0 }
    bed.spout.status.nodes.set(id, { connection: 'connected', departure })
  }
  const named = (group: string | null) => patch('n1', { metadata: { labels: { [GROUP_LABEL]: group } } })
  for (const [from, to] of [
    ['edge', 'core'],
    ['core', 'edge'],
  ] as const) {
    await named(to)
    await until('n1', 'draining', `it moves to node group ${to}`)
    expect(node('n1').nodeGroupId).toBe(groupId(from))
    reportsNoClients()
    await bed.until(`n1 to be in ${to}`, () => node('n1').nodeGroupId === groupId(to))
    await until('n1', 'enabled')
  }
  await named('elsewhere')
  const moved = (group: string) => `Normal NodeMoved: It is in node group ${group} now.`
  const missing = 'Warning NodeGroupMissing: It stays in node group edge: there is no node group elsewhere.'
  await bed.until('the Node to say so', async () => {
    const told = await eventsOn('n1')
    return isDeepStrictEqual(new Set(told), new Set([moved('core'), moved('edge'), missing]))
  })
  await label('n2', '')
  await until('n2', 'draining', LABELLED)
  expect(node('n1')).toMatchObject({ nodeGroupId: groupId('edge'), scheduling: 'enabled' })
  await label('n2', null)
  await named(null)
})

test('when most nodes are unwell, those drained before stay so, and no other is drained', async () => {
  await deadlock('n1', 'True')
  await until('n1', 'draining', DEADLOCK)
  for (const name of ['n2', 'n3']) await deadlock(name, 'True')
  // What comes after it in the same watch has been seen.
  await label('n2', '')
  await until('n2', 'draining', LABELLED)
  expect([node('n1').scheduling, node('n3').scheduling]).toEqual(['draining', 'enabled'])
  await label('n2', null)
  for (const name of NODES) await deadlock(name, 'False')
})

test('what changes while the loop does not run is seen afterwards; a node that is not of the cluster is left alone', async () => {
  const stranger = node(STRANGER)
  await label('n1', '')
  await until('n1', 'draining', LABELLED)
  await running.stop()
  await label('n1', null)
  await label('n3', '')
  running = bed.start()
  await until('n1', 'enabled')
  await until('n3', 'draining', LABELLED)
  await label('n3', null)
  await until('n3', 'enabled')
  expect(node(STRANGER)).toEqual(stranger)
})
