import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreAdmission, StoreView } from '@spout/admission'
import { type LocalNodeState, NodeAgent } from '@spout/agent'
import { RecordedAnnouncer, RecordedDomains, RecordedDriver, RecordedGroup, RecordedNode } from '@spout/agent/testing'
import { enrol } from '@spout/client/enrolment'
import { NodeLiveness, NodeStateTable, PlanController, StatusController } from '@spout/controllers'
import { planLocal } from '@spout/plan'
import { silentLogger, systemClock } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { AgentLink, CertificateAuthority, ServiceAccounts } from '@spout/server'
import { MemoryStore, type Store } from '@spout/store'
import { waitFor } from '@spout/testkit'
import { listenerOf, memberOf, poolOf } from '@spout/testkit/model'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NodeIdentity } from './identity.ts'
import { LateIdentity } from './late-identity.ts'

const log = silentLogger()
let directory: string
/** The parts that a test started. They are ended in reverse order, also when the test fails. */
let running: (() => Promise<void> | void)[]
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-link-'))
  running = []
})
afterEach(async () => {
  for (const stop of running.reverse()) await stop()
  await rm(directory, { recursive: true })
})

/** Stands in for the cluster's API server, which other tests use: it takes every token for one of the agent on n1. */
const IN_CLUSTER = new ServiceAccounts({
  review: async () => ({ namespace: 'spout', name: 'agent', node: 'n1' }),
  accounts: [],
  agents: 'spout/agent',
  clock: systemClock,
  log,
})

/** The part of a control plane that nodes speak to: a real agent link over real controllers. */
async function startControlPlane(store: Store, port = 0, authorityName = 'authority') {
  const ended = new AbortController()
  const view = await StoreView.open(store, { signal: ended.signal })
  const admission = new StoreAdmission({ store, view })
  const clock = systemClock
  const liveness = new NodeLiveness({ clock, disconnectedAfterMs: 3000, moveAfterMs: 5000 })
  const nodeStates = new NodeStateTable()
  const status = new StatusController({ view, nodeStates, liveness, clock })
  const plans = new PlanController({ view, store, nodeStates, liveness, status, admission, clock, log })
  const authority = await CertificateAuthority.open(join(directory, authorityName))
  const link = new AgentLink({
    ...{ authority, store, view, admission, clock, log, states: nodeStates, reports: status },
    listen: { host: '127.0.0.1', port },
    hosts: ['127.0.0.1'],
    cluster: { serviceAccounts: IN_CLUSTER, nodeGroup: 'default' },
  })
  plans.start()
  await link.start()
  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    await link.stop()
    await plans.stop()
    status.close()
    liveness.close()
    admission.close()
    ended.abort()
  }
  running.push(stop)
  return { admission, authority, link, status, view, stop, url: `https://127.0.0.1:${link.port}` }
}
type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>

async function enrolmentToken({ admission, authority, view }: ControlPlane): Promise<string> {
  const group =
    view.list('nodeGroup')[0] ??
    (await admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' }))
  const draft = { nodeName: 'n1', nodeGroupId: group.id, ttlSeconds: 60 }
  const { secret } = await admission.createEnrolmentToken(draft)
  return `${secret}.${authority.pin}`
}

async function openIdentity(url: string, token: string, clock = systemClock): Promise<NodeIdentity> {
  const enrolmentTokenFile = join(directory, 'token')
  await writeFile(enrolmentTokenFile, token)
  const identity = await NodeIdentity.open({
    file: join(directory, 'identity.json'),
    url,
    enrolmentTokenFile,
    clock,
    log,
  })
  running.push(() => identity.stop())
  return identity
}

async function startAgent(
  identity: Pick<NodeIdentity, 'link'>,
  node: RecordedNode,
  local: LocalNodeState | null = null,
): Promise<NodeAgent> {
  const agent = new NodeAgent({
    session: randomUUID(),
    stateFile: join(directory, 'entries.journal'),
    link: () => identity.link,
    local,
    certificateDirectory: join(directory, 'certificates'),
    domains: new RecordedDomains(node),
    drivers: [new RecordedDriver(node)],
    announcer: new RecordedAnnouncer(node),
    group: new RecordedGroup(node),
    flows: async () => null,
    fabricAddress: async () => '192.0.2.254',
    checks: [],
    clock: systemClock,
    random: Math.random,
    log,
  })
  await agent.start()
  running.push(() => agent.stop())
  return agent
}

/** A network with a load balancer of two members, as a tenant makes it. */
async function createLoadBalancer({ admission }: ControlPlane): Promise<string> {
  const project = await admission.createProject({ name: 'tenant', description: '' })
  const publicPool = await admission.createAddressPool({
    ...{ name: 'public', description: '', cidr: '192.0.2.0/24', gatewayIp: '192.0.2.1', projectIds: null },
    ranges: [{ first: '192.0.2.10', last: '192.0.2.20' }],
    quarantineSeconds: 60,
  })
  const segment = { physicalNetwork: 'physnet1', vlan: null }
  const network = await admission.createNetwork({
    projectId: project.id,
    name: '',
    description: '',
    returnPath: 'gateway',
    segment,
  })
  await admission.addSubnet(network.id, {
    name: '',
    description: '',
    cidr: '10.0.0.0/24',
    gatewayIp: '10.0.0.1',
    nodeRange: null,
  })
  const members = ['10.0.0.11', '10.0.0.12'].map((address) => memberOf(randomUUID(), address))
  const pool = poolOf(randomUUID(), members)
  const listener = listenerOf(randomUUID(), 80, { defaultPoolId: pool.id })
  const { id } = await admission.createLoadBalancer({
    ...{
      projectId: project.id,
      name: 'web',
      description: '',
      tags: [],
      enabled: true,
      nodeGroupId: null,
      annotations: {},
    },
    vips: [{ from: 'pool', poolId: publicPool.id, address: null }],
    listeners: [listener],
    pools: [pool],
  })
  return id
}

const isActive = ({ status }: ControlPlane, id: string) =>
  waitFor(() => status.loadBalancer(id).provisioning === 'active', { what: `${id} to be active` })

test('enrol, plan, apply, report: active; then agent and control plane restart and nothing moves', async () => {
  const store = new MemoryStore()
  const first = await startControlPlane(store)
  const identity = await openIdentity(first.url, await enrolmentToken(first))
  const node = new RecordedNode()
  const agent = await startAgent(identity, node)
  const id = await createLoadBalancer(first)
  await isActive(first, id)
  const { number } = first.view.list('network')[0]!
  expect(node.take()).toEqual([`domain+ ${number}`, `put lb/${id}`, 'announce 192.0.2.10'])
  expect(first.status.loadBalancer(id)).toMatchObject({ confirmedGeneration: 1, ownerNodeId: identity.nodeId })
  expect((await stat(join(directory, 'identity.json'))).mode & 0o777).toBe(0o600)

  await agent.stop()
  const session = await startAgent(identity, node)
  await waitFor(() => first.status.node(identity.nodeId).inSync, { what: 'the new agent to be in sync' })
  await isActive(first, id)
  expect(node.take()).toEqual([])

  const { port } = first.link
  await first.stop()
  const second = await startControlPlane(store, port)
  await isActive(second, id)
  expect(node.take()).toEqual([])
  expect(session.counters.transactions).toBe(1)

  await second.admission.deleteLoadBalancer(id, { cascade: true })
  await waitFor(() => node.domains.size === 0, { what: 'everything to be gone' })
  expect(node.take()).toEqual(['withdraw 192.0.2.10', `remove lb/${id}`, `domain- ${number}`])
})

const FABRIC_ADDRESS = '192.0.2.254'
/** What the node of `startAgent` gets by settings of its own. */
const localPlan = (): LocalNodeState =>
  planLocal({
    ...{ nodes: [FABRIC_ADDRESS, '192.0.2.253'], routerId: 255, profile: 'default', links: ['100.127.16.0/30'] },
    loadBalancers: [
      {
        ...{ name: 'api-server', address: '192.0.2.250', port: 6443 },
        members: [{ address: FABRIC_ADDRESS, port: 6443 }],
        check: { type: 'https', path: '/readyz', intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 },
      },
    ],
  }).get(FABRIC_ADDRESS)!

test('a node with work of its own does it before it enrols; then it has both, and reports one', async () => {
  const store = new MemoryStore()
  const first = await startControlPlane(store)
  const enrolmentTokenFile = join(directory, 'token')
  await writeFile(enrolmentTokenFile, await enrolmentToken(first))
  const { port } = first.link
  await first.stop()
  const identity = new LateIdentity({
    ...{ file: join(directory, 'identity.json'), url: first.url, enrolmentTokenFile, clock: systemClock, log },
  })
  running.push(() => identity.stop())
  identity.start()
  const node = new RecordedNode()
  const agent = await startAgent(identity, node, localPlan())
  await agent.idle()
  expect(node.take()).toEqual(['group 1 shards', 'domain+ 16000001', 'put lb/local-api-server', 'announce 192.0.2.250'])
  expect(() => identity.link).toThrow('the node has not enrolled yet')

  const plane = await startControlPlane(store, port)
  // Its pauses between tries grew meanwhile, to five seconds for the enrolment and as much for the link.
  const enrolled = () => plane.view.list('node').some((one) => plane.status.node(one.id).connection === 'connected')
  await waitFor(enrolled, { what: 'the node to enrol and to be connected', timeoutMs: 60_000 })
  const id = await createLoadBalancer(plane)
  await isActive(plane, id)
  expect([...node.programmed.keys()].sort()).toEqual([`lb/${id}`, 'lb/local-api-server'].sort())
  await plane.admission.deleteLoadBalancer(id, { cascade: true })
  await waitFor(() => node.domains.size === 1, { what: "the tenant's domain to be gone" })
  expect([...node.announced.keys()]).toEqual(['192.0.2.250'])
  expect(node.log.filter((line) => /16000001|local-api-server|192\.0\.2\.250/.test(line))).toEqual([])
  // Own entries count in the node's figures, and are in no report.
  expect(agent.figures.entries.programmed).toBeGreaterThanOrEqual(2)
})

test("an error of the kernel comes back in the kernel's words", async () => {
  const plane = await startControlPlane(new MemoryStore())
  const identity = await openIdentity(plane.url, await enrolmentToken(plane))
  const node = new RecordedNode()
  await startAgent(identity, node)
  const id = await createLoadBalancer(plane)
  await isActive(plane, id)
  node.refusals.set(`lb/${id}`, 'No buffer space available')
  await plane.admission.changeLoadBalancer(id, ({ pools }) => ({
    pools: pools.map((pool) => ({ ...pool, members: pool.members.slice(1) })),
  }))
  await waitFor(() => plane.status.loadBalancer(id).provisioning === 'error', { what: 'the error to arrive' })
  expect(plane.status.loadBalancer(id)).toMatchObject({
    reason: 'KernelRefused',
    message: 'Node n1: No buffer space available',
    confirmedGeneration: 1,
  })
  node.refusals.clear()
  await isActive(plane, id)
})

test('a token works once, and only with the control plane that gave it', async () => {
  const plane = await startControlPlane(new MemoryStore())
  const token = await enrolmentToken(plane)
  const [secret = ''] = token.split('.')
  await expect(enrol(plane.url, `${secret}.${'0'.repeat(32)}`, 'never sent')).rejects.toThrow(
    'does not present the CA certificate that the token names',
  )
  await openIdentity(plane.url, token)
  await expect(enrol(plane.url, token, 'whatever')).rejects.toThrow('401')
})

test('an agent whose response was lost enrols with the same token when it restarts', async () => {
  const plane = await startControlPlane(new MemoryStore())
  const token = await enrolmentToken(plane)
  const file = join(directory, 'identity.json')
  await expect(openIdentity('https://127.0.0.1:1', token)).rejects.toThrow('ECONNREFUSED')
  const { csr } = JSON.parse(await readFile(`${file}.request`, 'utf8')) as { csr: string }
  const { nodeId } = await enrol(plane.url, token, csr)
  expect((await openIdentity(plane.url, token)).nodeId).toBe(nodeId)
  expect(await readdir(directory)).not.toContain('identity.json.request')
})

test('a certificate is renewed after two thirds of its time, and the link goes on with the new one', async () => {
  const plane = await startControlPlane(new MemoryStore())
  const identity = await openIdentity(plane.url, await enrolmentToken(plane))
  identity.stop()
  const certificateOf = () => plane.view.get('node', identity.nodeId)?.value.certificateSha256
  const before = certificateOf()
  const later = new FakeClock(new Date(Date.now() + 70 * 86_400_000))
  const again = await openIdentity(plane.url, 'not read any more', later)
  again.start()
  await later.advance(1)
  await waitFor(() => certificateOf() !== before, { what: 'the certificate to be renewed' })
  const report = { entries: [], removed: [], members: [], stats: [], inSync: true, features: [] }
  await waitFor(() => again.link.report({ session: 's', sequence: 1, ...report }, AbortSignal.timeout(5000)), {
    what: 'a report over the new certificate',
  })
  expect(plane.status.node(again.nodeId).connection).toBe('connected')
})

test('in a pod: its token enrols the node; a control plane that lost everything is followed anew', async () => {
  const options = {
    ...{ file: join(directory, 'identity.json'), enrolmentTokenFile: join(directory, 'none'), clock: systemClock, log },
    pod: { tokenFile: join(directory, 'pod-token'), caFile: join(directory, 'ca.crt') },
  }
  await writeFile(options.pod.tokenFile, 'a.b.c\n')
  const open = async ({ url, authority, admission, view }: ControlPlane) => {
    if (view.list('nodeGroup').length === 0)
      await admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' })
    await writeFile(options.pod.caFile, authority.certificate)
    const identity = await NodeIdentity.open({ ...options, url })
    running.push(() => identity.stop())
    return identity
  }
  const first = await startControlPlane(new MemoryStore())
  const { nodeId } = await open(first)
  expect(first.view.get('node', nodeId)?.value.name).toBe('n1')
  // The same identity while the authority is the same.
  expect((await open(first)).nodeId).toBe(nodeId)
  const certificate = first.view.get('node', nodeId)?.value.certificateSha256
  expect(certificate).toEqual(expect.any(String))
  const second = await startControlPlane(new MemoryStore(), 0, 'other-authority')
  const again = await open(second)
  expect(second.view.list('node').map(({ id, name }) => [id, name])).toEqual([[again.nodeId, 'n1']])
  expect(first.view.get('node', nodeId)?.value.certificateSha256).toBe(certificate)
})
