import type { LocalReport, NodeReport } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { MemoryStore } from '@spout/store'
import { metaOf } from '@spout/testkit/model'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { node, nodeGroup, uuid } from '../testing/model.ts'
import { Adopter } from './adopter.ts'

let store: MemoryStore
let plane: ControlPlane
let adopter: Adopter

const GROUP = uuid('group', 1)
const NODES = [1, 2, 3].map((number) => uuid('node', number))
const [ONE, TWO, THREE] = NODES as [string, string, string]
const MASTERS = ['192.0.2.1', '192.0.2.2', '192.0.2.3']

const PROJECT = { ...metaOf(uuid('project', 9), 'admin'), enabled: true }

const report = (fields: Partial<LocalReport> = {}): LocalReport => ({
  ...{ name: 'api-server', address: '192.0.2.10', port: 6443, state: 'programmed', message: null, isOwner: false },
  check: { type: 'https', path: '/readyz', intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 },
  members: MASTERS.map((address) => ({ address, port: 6443, health: 'up', reason: null, since: '' })),
  counters: null,
  ...fields,
})

const shown = () => plane.view.list('loadBalancer').find(({ localName }) => localName === 'api-server')
const status = () => plane.status.loadBalancer(shown()?.id ?? '')

const say = (nodeId: string, local: NodeReport['local']): Promise<unknown> =>
  plane.report(nodeId, { ...(local && { local }) })

/** All say the same; the first has the address. */
async function sayAll(fields: Partial<LocalReport> = {}): Promise<void> {
  for (const id of NODES) await say(id, [report({ isOwner: id === ONE, ...fields })])
}

async function adopted(): Promise<void> {
  await sayAll()
  await expect.poll(shown).toBeDefined()
}

async function start(): Promise<void> {
  plane = await ControlPlane.start(store)
  const { view, status: told, admission, clock } = plane
  adopter = new Adopter({ view, status: told, admission, project: 'admin', clock, log: silentLogger() })
  adopter.start()
}

async function stop(): Promise<void> {
  await adopter.stop()
  await plane.stop()
}

beforeEach(async () => {
  store = new MemoryStore()
  await start()
  await plane.put(['project', PROJECT])
  await plane.put(['nodeGroup', nodeGroup(1)], ...[1, 2, 3].map((number) => ['node', node(number)] as const))
})
afterEach(stop)

it('shows what nodes carry by their own settings, with the owner, the members and the sums, and sends them nothing', async () => {
  const counters = { bytesIn: 1, bytesOut: 2, activeConnections: 1, totalConnections: 4, requestErrors: 0 }
  await adopted()
  await sayAll({ counters })
  expect(shown()).toMatchObject({ localName: 'api-server', projectId: uuid('project', 9), nodeGroupId: GROUP })
  expect(status()).toMatchObject({
    ...{ provisioning: 'active', reason: 'Programmed', ownerNodeId: ONE, confirmedGeneration: 1 },
    message: 'Node `n1` has its address. Its nodes carry it by their own settings, local.loadBalancers.api-server',
    serving: { state: 'yes', membersUp: 3, members: 3 },
  })
  expect(status().nodes.map(({ nodeName, announced }) => [nodeName, announced])).toEqual([
    ['n1', ['192.0.2.10']],
    ['n2', []],
    ['n3', []],
  ])
  expect([...status().stats.values()]).toMatchObject([{ bytesIn: 3, totalConnections: 12, activeConnections: 3 }])
  expect(plane.status.counts).toMatchObject({ active: 1, pending: 0, error: 0 })
  for (const id of NODES) expect([...plane.nodeStates.entries(id)]).toEqual([])
})

it('follows the address and the checks of the node that has it', async () => {
  await adopted()
  const members = report().members.map((one, at) => ({ ...one, health: at === 0 ? 'down' : 'up' }) as const)
  await say(ONE, [report({ isOwner: false })])
  expect(status()).toMatchObject({ provisioning: 'pending', reason: 'NoOwner', ownerNodeId: null })
  await say(TWO, [report({ isOwner: true, members })])
  expect(status()).toMatchObject({
    ...{ provisioning: 'active', ownerNodeId: TWO },
    serving: { state: 'partly', membersUp: 2, members: 3 },
  })
  await say(ONE, [report({ isOwner: true })])
  expect(status()).toMatchObject({ provisioning: 'pending', reason: 'TwoOwners' })
})

it('says what failed, and which node has other settings than most', async () => {
  await adopted()
  await say(TWO, [report({ state: 'failed', message: 'no room' })])
  expect(status()).toMatchObject({ provisioning: 'error', reason: 'Failed', message: 'Node n2: no room' })
  await say(TWO, [report({ port: 443 })])
  expect(shown()?.listeners[0]?.port).toBe(6443)
  expect(status()).toMatchObject({ provisioning: 'error', reason: 'SettingsDiffer' })
  expect(status().message).toContain('`n2`')
  await say(THREE, [report({ port: 443 })])
  await expect.poll(() => shown()?.listeners[0]?.port).toBe(443)
})

it('stays over a restart of the control plane, and until every node has said that it has none', async () => {
  await adopted()
  await stop()
  await start()
  expect(status()).toMatchObject({ provisioning: 'pending', reason: 'WaitingForNode' })
  await say(ONE, [])
  await say(TWO, [])
  // An agent that does not know the field says nothing.
  await say(THREE, undefined)
  expect(shown()).toBeDefined()
  await say(THREE, [])
  await expect.poll(shown).toBeUndefined()
})

it('goes with the last node of its group', async () => {
  await adopted()
  for (const id of NODES) await plane.delete('node', id)
  await expect.poll(shown).toBeUndefined()
})

it('says on the node why one is not shown, and adopts it once nothing is in the way', async () => {
  await sayAll({ address: '10.0.0.9' })
  const problems = () =>
    plane.status.node(ONE).problems.flatMap(({ code, message }) => (code === 'AdoptionRefused' ? [message] : []))
  await expect.poll(problems).toHaveLength(1)
  expect(shown()).toBeUndefined()
  expect(problems()[0]).toContain(
    'The node carries api-server by its own settings, but it is not shown, and its address may be given out: Field local.loadBalancers.api-server.address: 10.0.0.9 is not allowed',
  )
  await plane.put(['node', node(2, { fabricAddress: '10.0.0.2' })])
  await expect.poll(() => shown()?.vips[0]?.address).toBe('10.0.0.9')
  await expect.poll(problems).toEqual([])
})

it('costs nodes and groups without own settings nothing', async () => {
  const revision = await store.revision()
  for (const id of NODES) await say(id, [])
  expect(await store.revision()).toBe(revision)
})
