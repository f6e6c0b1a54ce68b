import { randomUUID } from 'node:crypto'
import { StoreAdmission, StoreView } from '@spout/admission'
import type { Principal } from '@spout/admission/contract'
import {
  type Kind,
  type LoadBalancerStatus,
  type LoadBalancerSummary,
  type NodeStatus,
  type OwnershipReader,
  ROLES,
  type Role,
  type ServiceStats,
  type ShardStatus,
  SpoutError,
  type StatusReader,
  UNSEEN_NODE,
} from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import { SealingKeys } from '@spout/runtime/sealing-keys'
import { MemoryStore } from '@spout/store'
import { type FastifyInstance, fastify } from 'fastify'
import { DEFAULT_PROVIDERS, type GivenContext } from '../access/context.ts'
import { DEFAULT_POLICY_SET, type PolicySetName } from '../access/policies.ts'
import { octaviaApi } from '../octavia-api.ts'
import { NOOP_POOL } from '../to-model/noop-vips.ts'
import { PENDING, statusOf } from './fixtures.ts'

/** Callers for tests. The name is also the token. */
export type Who = 'admin' | 'member' | 'balancer' | 'reader' | 'stranger' | 'unscoped' | OneRole
/** One role in the project of the tests, or in the other one. `any` is a role that nothing depends on. */
export type OneRole = `${Role | 'any'} in ${'project' | 'otherProject'}`

/** Statuses, as a test sets them. */
export class PlainStatus implements StatusReader, Pick<OwnershipReader, 'shards'> {
  /** By node group. */
  readonly shardsOf = new Map<string, readonly ShardStatus[]>()
  /** Nodes that report, and have all that they should. */
  readonly connected = new Set<string>()
  readonly #statuses = new Map<string, LoadBalancerStatus>()
  /** By node id and listener id. */
  readonly statsOf = new Map<string, ReadonlyMap<string, ServiceStats>>()
  /** For load balancers whose status the test does not set. */
  otherwise = statusOf(PENDING)

  set(id: string, status: LoadBalancerStatus): void {
    this.#statuses.set(id, status)
  }

  loadBalancer(id: string): LoadBalancerStatus {
    return this.#statuses.get(id) ?? this.otherwise
  }

  features(): readonly string[] {
    return []
  }

  nodeStats(nodeId: string): ReadonlyMap<string, ServiceStats> {
    return this.statsOf.get(nodeId) ?? new Map()
  }

  requests(): ReadonlyMap<string, RequestParts> {
    return new Map()
  }

  summary(id: string): LoadBalancerSummary {
    const { nodes: _nodes, members: _members, stats: _stats, ...summary } = this.loadBalancer(id)
    return summary
  }

  node(nodeId: string): NodeStatus {
    const isConnected = this.connected.has(nodeId)
    return { ...UNSEEN_NODE, nodeId, connection: isConnected ? 'connected' : 'never', inSync: isConnected }
  }

  shards(nodeGroupId: string): readonly ShardStatus[] {
    return this.shardsOf.get(nodeGroupId) ?? []
  }

  confirmedHash(nodeId: string): string | null {
    return this.connected.has(nodeId) ? 'some' : null
  }

  onChange(): () => void {
    return () => {}
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** The parsed body; undefined for an empty one. */
  readonly body: unknown
}

/**
 * The API over real admission and a real store in memory, with a project that has a public pool and a network, and a
 * second project.
 */
export class TestService {
  readonly app: FastifyInstance
  readonly admission: StoreAdmission
  readonly view: StoreView
  readonly status = new PlainStatus()
  /** The turns in which the work of all requests is done in pieces; null: at once. */
  turn: (() => Promise<void>) | null = null
  readonly ids: Readonly<Record<'project' | 'otherProject' | 'pool' | 'network' | 'subnet', string>>
  readonly #store: MemoryStore
  readonly #abort: AbortController

  private constructor(
    parts: Pick<TestService, 'app' | 'admission' | 'view' | 'ids'>,
    store: MemoryStore,
    abort: AbortController,
  ) {
    this.app = parts.app
    this.admission = parts.admission
    this.view = parts.view
    this.ids = parts.ids
    this.#store = store
    this.#abort = abort
  }

  /**
   * @param prepare adds routes besides those of the API
   * @param policySet says what roles may do
   * @param noop runs the API in noop mode, as for tools that are tested against it
   * @param strictLocking refuses changes of what nodes have not confirmed
   */
  static async start(
    prepare: (app: FastifyInstance) => void = () => {},
    policySet: PolicySetName = DEFAULT_POLICY_SET,
    noop = false,
    strictLocking = false,
  ): Promise<TestService> {
    const abort = new AbortController()
    const store = new MemoryStore()
    const view = await StoreView.open(store, { signal: abort.signal })
    const sealing = SealingKeys.parse(SealingKeys.generate())
    const admission = new StoreAdmission({ store, view, sealing, references: noop ? 'any' : 'known' })
    const own = { description: '' }
    if (noop) {
      const { name, cidr, range } = NOOP_POOL
      const open = { projectIds: null, quarantineSeconds: 0, gatewayIp: null }
      await admission.createAddressPool({ name, ...own, cidr, ranges: [range], ...open })
    }
    const project = await admission.createProject({ name: 'shop', ...own })
    const otherProject = await admission.createProject({ name: 'neighbour', ...own })
    const pool = await admission.createAddressPool({
      name: 'public',
      ...own,
      ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }],
      cidr: '192.0.2.0/24',
      gatewayIp: '192.0.2.1',
      projectIds: null,
      quarantineSeconds: 0,
    })
    const network = await admission.createNetwork({
      projectId: project.id,
      name: 'private',
      ...own,
      returnPath: 'snat',
      segment: { physicalNetwork: 'physnet1', vlan: 101 },
    })
    const subnet = await admission.addSubnet(network.id, {
      name: 'private-v4',
      ...own,
      cidr: '10.0.0.0/16',
      gatewayIp: '10.0.0.1',
      nodeRange: null,
    })
    const ids = {
      project: project.id,
      otherProject: otherProject.id,
      pool: pool.id,
      network: network.id,
      subnet: subnet.id,
    }
    const app = fastify()
    prepare(app)
    const service = new TestService({ app, admission, view, ids }, store, abort)
    await app.register(octaviaApi, { prefix: '/load-balancer', ...service.#context(policySet, noop, strictLocking) })
    await app.ready()
    return service
  }

  async stop(): Promise<void> {
    await this.app.close()
    this.admission.close()
    this.#abort.abort()
    await this.#store.close()
  }

  #context(policySet: PolicySetName, noop: boolean, strictLocking: boolean): GivenContext {
    return {
      admission: this.admission,
      view: this.view,
      status: this.status,
      ownership: this.status,
      authenticate: async ({ headers }) => this.principal(String(headers['x-auth-token'] ?? '')),
      clock: { now: () => new Date() },
      newId: () => randomUUID(),
      turnsOf: () => this.turn,
      options: {
        ...{ providers: DEFAULT_PROVIDERS, publicUrl: 'http://lb.example', identityPath: '/identity', settleMs: 0 },
        ...{ policySet, noop, strictLocking },
      },
    }
  }

  principal(token: string): Principal {
    const as = (projectId: string | null, ...roles: Role[]): Principal => ({
      userId: randomUUID(),
      userName: token,
      projectId,
      roles,
      expiresAt: '2099-01-01T00:00:00.000Z',
    })
    const { project, otherProject } = this.ids
    const one = /^(\S+) in (project|otherProject)$/.exec(token)
    if (one !== null) return as(this.ids[one[2] as 'project'], ...ROLES.filter((role) => role === one[1]))
    switch (token) {
      case 'admin':
        return as(otherProject, 'admin')
      case 'member':
        return as(project, 'member', 'reader')
      case 'balancer':
        return as(project, 'balancer')
      case 'reader':
        return as(project, 'reader')
      case 'stranger':
        return as(otherProject, 'member')
      case 'unscoped':
        return as(null)
      default:
        throw new SpoutError('Unauthenticated', { reason: 'no token' })
    }
  }

  async call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD',
    path: string,
    body?: unknown,
    who: Who = 'member',
  ): Promise<Answer> {
    const url = path.startsWith('/v2') || path === '/' ? `/load-balancer${path}` : `/load-balancer/v2/lbaas${path}`
    const reply = await this.app.inject({
      method,
      url,
      headers: { 'x-auth-token': who, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: reply.body === '' ? undefined : (reply.json() as unknown),
    }
  }

  /** Creates an object and returns it. Throws unless that succeeds. */
  async make(
    path: string,
    root: string,
    fields: object,
    who: Who = 'member',
  ): Promise<Record<string, unknown> & { readonly id: string }> {
    const { status, body } = await this.call('POST', path, { [root]: fields }, who)
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`)
    return (body as Record<string, Record<string, unknown> & { id: string }>)[root]!
  }

  /** Stores an object as it is. For objects that the API does not create. */
  async put<T extends { readonly id: string }>(kind: Kind, value: T): Promise<void> {
    const { revision } = await this.#store.commit([{ op: 'put', kind, id: value.id, scope: null, value }])
    await this.view.caughtUp(revision)
  }

  /** Confirms the newest generation, as a node would. */
  confirm(id: string, fields: Parameters<typeof statusOf>[0] = {}): void {
    const generation = this.view.get('loadBalancer', id)?.value.generation ?? 1
    this.status.set(id, statusOf({ confirmedGeneration: generation, ...fields }))
  }
}
