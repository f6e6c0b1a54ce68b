import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundled } from '../bundles/bundled.ts'
import type { Daemon, Lab } from '../lab/lab.ts'
import { NODES, TENANTS } from '../lab/topology.ts'
import { waitFor } from '../lab/wait-for.ts'
import { type Account, callApi, passwordToken, type SystemAccess } from './access.ts'
import { THIS_CHECKOUT } from './checkout.ts'
import { productUnit } from './product-unit.ts'

/** Of other checkouts the sources run. */
function program(app: 'control-plane' | 'agent', checkout: string): readonly string[] {
  const source = path.join(checkout, 'apps', app, 'src', 'main.ts')
  return [
    process.execPath,
    ...productUnit(app, checkout).nodeOptions,
    checkout === THIS_CHECKOUT ? bundled(source) : source,
  ]
}
/** Environment of the product's own processes; reasons in docs/operations.md. */
export const PRODUCT_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...productUnit('agent').environment,
  NODE_COMPILE_CACHE: path.join(THIS_CHECKOUT, 'build', 'compile-cache'),
}
const MEMBER_SERVER = path.resolve(import.meta.dirname, '../lab/member-server.ts')

export interface ControlPlaneOptions {
  /** Where it listens on loopback; 0 takes a free port. */
  readonly port?: number
  /** Port of metrics and readiness on loopback; 0 takes a free port. */
  readonly statusPort?: number
  /** Settings as `--set` takes them. */
  readonly set?: readonly string[]
  /** Variables in addition to this process's own. */
  readonly env?: Readonly<Record<string, string>>
  /** Command line prefix that restricts the program and then executes it. */
  readonly within?: readonly string[]
  /** Directory of the checkout whose program runs, this one by default. */
  readonly checkout?: string
}

const ADMIN = { user: 'admin', password: 'admin-in-the-lab', project: 'admin' } as const

/** Starts the control plane of a lab on the host. Its data is in the lab's directory, so a second start finds it. */
export async function startControlPlane(
  lab: Lab,
  { port = 0, statusPort = 0, set = [], env = {}, within = [], checkout = THIS_CHECKOUT }: ControlPlaneOptions = {},
): Promise<SystemAccess> {
  const settings = [
    `stateDirectory=${path.join(lab.directory, 'control-plane')}`,
    `api.port=${port}`,
    `status.port=${statusPort}`,
    `agentLink.host=${lab.hostAddress}`,
    'agentLink.port=9131',
    `agentLink.names=["${lab.hostAddress}"]`,
    `admin.password=${ADMIN.password}`,
    'network.managementCidrs=["198.18.0.0/15","198.51.100.0/24"]',
    ...set,
  ]
  const argv = [...within, ...program('control-plane', checkout), ...settings.flatMap((setting) => ['--set', setting])]
  const daemon = await lab.start('host', 'control-plane', argv, {
    readyText: '"event":"listening"',
    env: { ...PRODUCT_ENVIRONMENT, ...env },
  })
  const told = listening(daemon)
  const endpoint = told.address
  const { token, projectId } = await passwordToken(endpoint, ADMIN)
  return {
    endpoint,
    statusUrl: `http://127.0.0.1:${told.statusPort}`,
    admin: { ...ADMIN, projectId, token },
    projects: [],
  }
}

function listening({ logFile }: Daemon): { readonly address: string; readonly statusPort: number } {
  const line = readFileSync(logFile, 'utf8')
    .split('\n')
    .findLast((text) => text.includes('"event":"listening"'))
  return JSON.parse(line ?? '{}') as ReturnType<typeof listening>
}

/** The operator's own addresses: management, and those below the public ranges on the fabric. */
const PROTECTED_CIDRS = ['198.18.0.0/15', '198.51.100.0/28', '2001:db8:f::/120']

/** Settings of a node's agent in addition to those of every lab node. */
export interface AgentOptions {
  readonly set?: readonly string[]
  /** A file of settings, which `set` overrides. */
  readonly config?: string
  /** Variables in addition to this process's own; daemons that the agent starts have an environment of their own. */
  readonly env?: Readonly<Record<string, string>>
  /** Command line prefix that restricts the program and then executes it. */
  readonly within?: readonly string[]
  /** Directory of the checkout whose program runs, this one by default. */
  readonly checkout?: string
}

const enrolmentTokenFile = (lab: Lab, node: string): string => path.join(lab.directory, node, 'enrolment-token')

/** The settings of an agent of any place whose interface `fab0` is on the fabric, as `--set` takes them. */
function placeSettings(lab: Lab, place: string, instance: string, checkout: string): readonly string[] {
  return [
    `stateDirectory=${path.join(lab.directory, place)}`,
    `instance=${instance}`,
    'fabric.interface=fab0',
    `helper.path=${path.join(checkout, 'native/build/spout-helper')}`,
    `haproxy.runDirectory=${path.join(lab.runDirectory, instance)}`,
    `haproxy.cgroup=spout-${instance}`,
    `vrrp.mover=${path.join(checkout, 'native/build/spout-mover')}`,
    `flows.executable=${path.join(checkout, 'native/build/spout-flows')}`,
    ...programIn(checkout, 'accessLogs.sender', 'spout-syslog'),
    ...programIn(checkout, 'haproxy.passwords', 'spout-passwords'),
    `vrrp.directory=${path.join(lab.runDirectory, `${instance}-vrrp`)}`,
    `bgp.directory=${path.join(lab.runDirectory, `${instance}-bgp`)}`,
    `flows.directory=${path.join(lab.runDirectory, `${instance}-flows`)}`,
  ]
}

/** How an agent reaches the control plane of its lab. */
const linkSettings = (lab: Lab, node: string): readonly string[] => [
  `server.url=https://${lab.hostAddress}:9131`,
  `server.enrolmentTokenFile=${enrolmentTokenFile(lab, node)}`,
]

/** What a lab node's agent is told beyond that: its control plane and the tenants. */
const nodeSettings = (lab: Lab, node: string): readonly string[] => [
  ...linkSettings(lab, node),
  `segments={${TENANTS.map((tenant) => `${tenant}: seg-${tenant.at(-1)}`).join(', ')}}`,
  `protectedCidrs=${JSON.stringify(PROTECTED_CIDRS)}`,
]

/** All settings of a lab node's agent, as `--set` takes them. */
export const agentSettings = (lab: Lab, node: string): readonly string[] => [
  ...placeSettings(lab, node, instanceOf(lab, node), THIS_CHECKOUT),
  ...nodeSettings(lab, node),
]

/** Starts a node's agent; the first time with a new enrolment token. */
export async function startAgent(
  lab: Lab,
  access: SystemAccess,
  node: string,
  { set = [], env = {}, within = [], checkout = THIS_CHECKOUT }: AgentOptions = {},
): Promise<Daemon> {
  await enrol(lab, access, node)
  return runAgent(lab, node, instanceOf(lab, node), {
    set: [...nodeSettings(lab, node), ...set],
    ...{ env, within, checkout },
  })
}

/** The settings with which the agent of any place joins the lab's control plane, as `--set` takes them. */
export async function joiningSettings(lab: Lab, access: SystemAccess, node: string): Promise<readonly string[]> {
  await enrol(lab, access, node)
  return linkSettings(lab, node)
}

/** Writes an enrolment token for a node unless the control plane knows it. */
async function enrol(lab: Lab, { endpoint, admin }: SystemAccess, node: string): Promise<void> {
  mkdirSync(path.join(lab.directory, node), { recursive: true })
  const { items: groups } = await callApi<{ items: { id: string }[] }>(endpoint, admin.token, 'GET', '/node-groups')
  const { items: nodes } = await callApi<{ items: { name: string }[] }>(endpoint, admin.token, 'GET', '/nodes')
  if (nodes.some(({ name }) => name === node)) return
  const body = { nodeName: node, nodeGroupId: groups[0]?.id }
  const { token } = await callApi<{ token: string }>(endpoint, admin.token, 'POST', '/enrolment-tokens', body)
  writeFileSync(enrolmentTokenFile(lab, node), token, { mode: 0o600 })
}

/**
 * Starts the agent of a place whose interface `fab0` is on the fabric, with nothing but these settings and those of
 * every place in the lab.
 */
export async function runAgent(
  lab: Lab,
  place: string,
  instance: string,
  { set = [], config, env = {}, within = [], checkout = THIS_CHECKOUT }: AgentOptions,
): Promise<Daemon> {
  const settings = [...placeSettings(lab, place, instance, checkout), ...set]
  const file = config === undefined ? [] : ['--config', config]
  const flags = [...file, ...settings.flatMap((setting) => ['--set', setting])]
  const argv = [...within, ...program('agent', checkout), ...flags]
  return lab.start(place, `agent-${place}`, argv, {
    env: { ...PRODUCT_ENVIRONMENT, ...env },
    readyText: '"event":"running"',
  })
}

/** Earlier commits have no such program, nor a setting for it. */
const programIn = (checkout: string, setting: string, name: string): readonly string[] => {
  const program = path.join(checkout, 'native/build', name)
  return existsSync(program) ? [`${setting}=${program}`] : []
}

/** Prefix of every namespace that a node's agent makes. Begins with the lab's id, so that the lab removes them. */
export const instanceOf = (lab: Lab, node: string): string =>
  `${lab.id}n${NODES.indexOf(node as (typeof NODES)[number]) + 1}`

/** Waits until every node is connected and in sync. */
export async function nodesInSync(access: SystemAccess, count: number): Promise<void> {
  await waitFor(
    async () => {
      const { items } = await callApi<{ items: { status: { connection: string; inSync: boolean } }[] }>(
        access.endpoint,
        access.admin.token,
        'GET',
        '/nodes',
      )
      return items.filter(({ status }) => status.connection === 'connected' && status.inSync).length >= count
    },
    { what: `${count} nodes to be connected and in sync`, timeoutMs: 30_000, everyMs: 20 },
  )
}

/** Starts a member's servers (HTTP 8080, TCP 9000, UDP 9001). */
export const startMember = (lab: Lab, place: string): Promise<Daemon> =>
  lab.start(place, `member-${place}`, [process.execPath, MEMBER_SERVER, place], { readyText: 'ready' })

/** A new tenant: a project with a user and one network on a segment of the lab. */
export interface TenantSpec {
  readonly project: string
  readonly user: string
  readonly password: string
  readonly segment: string
  readonly returnPath: 'gateway' | 'snat' | 'dsr'
}

export interface Tenant extends Account {
  readonly networkId: string
  readonly subnetId: string
}

/** Creates a tenant with the network 10.0.0.0/24. */
export async function createTenant({ endpoint, admin }: SystemAccess, spec: TenantSpec): Promise<Tenant> {
  const asAdmin = <T>(path: string, body: unknown): Promise<T> => callApi<T>(endpoint, admin.token, 'POST', path, body)
  const { id: projectId } = await asAdmin<{ id: string }>('/projects', { name: spec.project })
  await asAdmin('/users', { name: spec.user, password: spec.password, roles: [{ projectId, role: 'member' }] })
  const segment = { physicalNetwork: spec.segment, vlan: null }
  const { id: networkId } = await asAdmin<{ id: string }>('/networks', {
    name: 'net',
    projectId,
    returnPath: spec.returnPath,
    segment,
  })
  const { id: subnetId } = await asAdmin<{ id: string }>(`/networks/${networkId}/subnets`, {
    name: 'subnet',
    cidr: '10.0.0.0/24',
    gatewayIp: '10.0.0.1',
  })
  const { token } = await passwordToken(endpoint, spec)
  return { user: spec.user, password: spec.password, project: spec.project, projectId, token, networkId, subnetId }
}

/** Creates the pool `public` of the lab's fabric. */
export const createPublicPool = ({ endpoint, admin }: SystemAccess): Promise<{ id: string }> =>
  callApi(endpoint, admin.token, 'POST', '/address-pools', {
    name: 'public',
    ranges: [{ first: '198.51.100.16', last: '198.51.100.250' }],
    cidr: '198.51.100.0/24',
    gatewayIp: '198.51.100.1',
  })
