import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { StoreAdmission, StoreView } from '@spout/admission'
import type { ModelView } from '@spout/admission/contract'
import {
  type DomainChecks,
  type DrainForecaster,
  type DrainPreview,
  FIGURE_SPANS,
  type FigureSpan,
  type Figures,
  type FiguresReader,
  fabricAddressOf,
  type LoadBalancer,
  type LoadBalancerStatus,
  type LoadBalancerSummary,
  type LoadRates,
  type MemberTransition,
  type NodeStatus,
  type OwnershipReader,
  type Placement,
  type PlanDifference,
  type PlanForecaster,
  type Role,
  type ServiceStats,
  type ShardStatus,
  SpoutError,
  type StatusReader,
  UNSEEN_NODE,
  type VipMove,
  type Withdrawal,
  type WithdrawalReader,
} from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import {
  drainDifference,
  type GroupNode,
  type Planned,
  type PlannedNode,
  planDifference,
  planGroup,
  planLoadBalancer,
} from '@spout/plan'
import { type Clock, Listeners, type Logger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { SealingKeys } from '@spout/runtime/sealing-keys'
import { MemoryStore } from '@spout/store'
import type { FastifyInstance } from 'fastify'
import { AuditLog } from './audit/audit-log.ts'
import { authenticateBy } from './authn/authenticate.ts'
import { Authenticator } from './authn/authenticator.ts'
import { bootstrap } from './authn/bootstrap.ts'
import { CredentialMaker } from './authn/credential-maker.ts'
import type { ForeignTokens } from './authn/foreign-session.ts'
import type { TokenBounds } from './authn/grant-tokens.ts'
import { LOCAL_ADDRESS } from './authn/login-source.ts'
import { newUser } from './authn/new-user.ts'
import type { PageCookie } from './authn/page-cookie.ts'
import { Passwords } from './authn/password.ts'
import type { ServiceAccounts } from './authn/service-accounts.ts'
import { baseUrl } from './http/base-url.ts'
import type { ProxyTrust } from './http/client-address.ts'
import { createServer, mount } from './http/host.ts'
import { SERVICES } from './identity/catalog.ts'
import { identityApi } from './identity/identity-api.ts'
import { keyManagerApi } from './key-manager/key-manager-api.ts'
import { apiGate } from './limits/api-gate.ts'
import { BodyBudget } from './limits/body-budget.ts'
import { OpenStreams } from './limits/open-streams.ts'
import { RequestShares } from './limits/request-shares.ts'
import { nativeApi } from './native/native-api.ts'
import { networkApi } from './network/network-api.ts'
import { RoundTurns } from './turns/round-turns.ts'

export const ADMIN_PASSWORD = 'admin-password'

/** Answers every status as if no node had reported. Tests may set statuses. */
class TestStatus implements StatusReader {
  readonly loadBalancers = new Map<string, Partial<LoadBalancerStatus>>()
  readonly nodes = new Map<string, Partial<NodeStatus>>()
  readonly #listeners = new Set<(kind: 'loadBalancer' | 'node', id: string) => void>()

  loadBalancer(id: string): LoadBalancerStatus {
    return {
      provisioning: 'pending',
      reason: 'WaitingForNode',
      message: 'No node has confirmed it yet.',
      serving: { state: 'yes', reason: 'Serving', message: '0 of 0 members answer.', membersUp: 0, members: 0 },
      confirmedGeneration: 0,
      confirmedAt: null,
      ownerNodeId: null,
      nodes: [],
      members: new Map(),
      stats: new Map(),
      ...this.loadBalancers.get(id),
    }
  }

  features(): readonly string[] {
    return []
  }

  nodeStats(): ReadonlyMap<string, ServiceStats> {
    return new Map()
  }

  requests(): ReadonlyMap<string, RequestParts> {
    return new Map()
  }

  summary(id: string): LoadBalancerSummary {
    const { nodes: _nodes, members: _members, stats: _stats, ...summary } = this.loadBalancer(id)
    return summary
  }

  node(nodeId: string): NodeStatus {
    return { nodeId, connection: 'never', ...UNSEEN_NODE, ...this.nodes.get(nodeId) }
  }

  confirmedHash(): null {
    return null
  }

  onChange(listener: (kind: 'loadBalancer' | 'node', id: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(id: string, status: Partial<LoadBalancerStatus>): void {
    this.loadBalancers.set(id, status)
    for (const listener of this.#listeners) listener('loadBalancer', id)
  }
}

/** Answers what was counted as a test set it. */
class TestFigures implements FiguresReader {
  readonly now = new Map<string, LoadRates>()
  readonly transitions = new Map<string, readonly MemberTransition[]>()
  readonly series = new Map<string, Figures['series']>()
  readonly #listeners = new Listeners<string>()

  rates(id: string): LoadRates | null {
    return this.now.get(id) ?? null
  }

  figures(id: string, span: FigureSpan): Figures {
    const { stepSeconds } = FIGURE_SPANS[span]
    return { stepSeconds, from: '2026-01-01T00:00:00.000Z', series: this.series.get(id) ?? {} }
  }

  memberHistory(id: string): readonly MemberTransition[] {
    return this.transitions.get(id) ?? []
  }

  onRates(listener: (id: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  set(id: string, rates: LoadRates): void {
    this.now.set(id, rates)
    this.#listeners.tell(id)
  }
}

/** Answers shards and moves as a test set them. */
class TestOwnership implements OwnershipReader {
  readonly all: ShardStatus[] = []
  readonly moves = new Map<string, readonly VipMove[]>()

  shards(nodeGroupId: string): readonly ShardStatus[] {
    return this.all.filter((one) => one.nodeGroupId === nodeGroupId)
  }

  shard(nodeGroupId: string, number: number): ShardStatus | null {
    return this.shards(nodeGroupId).find((one) => one.number === number) ?? null
  }

  history(loadBalancerId: string): readonly VipMove[] {
    return this.moves.get(loadBalancerId) ?? []
  }
}

/** Answers that nodes released every deleted load balancer at once, except those that a test holds. */
class TestWithdrawals implements WithdrawalReader {
  readonly #view: ModelView
  readonly #held = new Map<string, Omit<Withdrawal, 'withdrawn'>>()
  readonly #listeners = new Set<() => void>()

  constructor(view: ModelView) {
    this.#view = view
  }

  withdrawal(id: string): Withdrawal {
    const held = this.#held.get(id)
    if (held !== undefined) return { ...held, withdrawn: false }
    const withdrawn = this.#view.get('loadBalancer', id) === null
    return { projectId: null, withdrawn, overdue: false, waitingFor: [] }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  hold(id: string, held: Omit<Withdrawal, 'withdrawn'>): void {
    this.#held.set(id, held)
    for (const listener of this.#listeners) listener()
  }

  letGo(id: string): void {
    this.#held.delete(id)
    for (const listener of this.#listeners) listener()
  }
}

/** Plans for two nodes that carry everything, and for none of a group that a load balancer names. */
class TestPlans implements PlanForecaster, DrainForecaster {
  readonly #view: ModelView
  readonly #ownership: OwnershipReader

  constructor(view: ModelView, ownership: OwnershipReader) {
    this.#view = view
    this.#ownership = ownership
  }

  /** All nodes are connected, and no load balancer is on one. */
  forecastDrain(nodeId: string): DrainPreview {
    const own = this.#view.get('node', nodeId)?.value.nodeGroupId
    const group = this.#view.get('nodeGroup', own ?? '')?.value
    if (group === undefined) throw new SpoutError('NotFound', { what: 'Node group', id: own ?? '' })
    const nodes = this.#view
      .list('node')
      .filter(({ nodeGroupId }) => nodeGroupId === group.id)
      .map((node): GroupNode => {
        const scheduling = node.id === nodeId ? 'draining' : node.scheduling
        return { ...node, scheduling, fabricAddress: fabricAddressOf(node), connection: 'connected' }
      })
    const plan = planGroup({ group, nodes, peers: [], advertisements: [], nowMs: 0 })
    const shards = this.#ownership.shards(group.id)
    return drainDifference({ nodeId, group, nodes, plan, shards, waitsFor: null, carried: [], owners: new Map() })
  }

  forecast(before: LoadBalancer | null, after: LoadBalancer | null): PlanDifference {
    const was = before && this.#planned(before, null)
    const is = after && this.#planned(after, was?.plan.placement ?? null)
    return planDifference(was, is, (id) => PLANNED_NODES.find((node) => node.id === id)?.name ?? id)
  }

  #planned(loadBalancer: LoadBalancer, previous: Placement | null): Planned {
    const network = this.#view.get('network', loadBalancer.networkId ?? '')?.value ?? null
    const plan = planLoadBalancer({
      ...{ loadBalancer, network, previous, group: { name: 'default', nodes: PLANNED_NODES } },
      ...{ announcing: { via: 'l2' }, gatewayOwnerIds: [], connectionLimit: null, certificateOf: () => null },
      freePoolNumber: (number) => number + 1,
      now: loadBalancer.createdAt,
    })
    return { loadBalancer, plan, returnPath: network?.returnPath ?? null }
  }
}

const PLANNED_NODES: readonly PlannedNode[] = [1, 2].map((number) => ({
  ...{ id: `00000000-0000-4000-8000-00000000000${number}`, name: `n${number}`, scheduling: 'enabled' },
  ...{ connection: 'connected', features: ['l4.tcp', 'l4.udp', 'l7.http'], loadBalancers: 0 },
}))

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function inject(app: FastifyInstance, method: Method, url: string, payload: unknown, headers: object) {
  const reply = await app.inject({
    method,
    url,
    headers: { 'content-type': 'application/json', ...headers },
    ...(payload !== undefined && { payload: JSON.stringify(payload) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
  const body: any = reply.body === '' ? null : JSON.parse(reply.body)
  return { status: reply.statusCode, body, headers: reply.headers }
}

/**
 * Shared by all test beds of a process, because each would start a thread of its own, in 30 ms. A hash at full cost
 * takes 100 ms of a core; only the tests of passwords need that.
 */
const PASSWORDS = new Passwords({ log2N: 4 })

/** For tests: the surfaces over a real admission, view and memory store, with an administrator in project `admin`. */
export async function openTestBed(
  clock: Clock = systemClock,
  serviceAccounts?: ServiceAccounts,
  limits: {
    readonly tokenBounds?: Partial<TokenBounds>
    readonly credentialsPerUser?: number
    readonly log?: Logger
    readonly proxies?: ProxyTrust
    readonly foreign?: ForeignTokens
    readonly cookie?: PageCookie
  } = {},
) {
  const log = limits.log ?? silentLogger()
  const store = new MemoryStore()
  const stop = new AbortController()
  const view = await StoreView.open(store, { signal: stop.signal })
  const sealing = SealingKeys.parse(SealingKeys.generate())
  const admission = new StoreAdmission({ store, view, sealing, now: () => clock.now().getTime() })
  const authenticator = new Authenticator({
    ...{ store, view, clock, log },
    passwords: PASSWORDS,
    ...(serviceAccounts && { serviceAccounts }),
    ...(limits.tokenBounds && { tokenBounds: limits.tokenBounds }),
    ...(limits.cookie && { cookie: limits.cookie }),
  })
  const { passwords } = authenticator
  const password = new Secret(ADMIN_PASSWORD)
  const admin = await bootstrap(
    { admission, view, passwords, clock },
    { projectName: 'admin', userName: 'admin', password },
  )
  const status = new TestStatus()
  const figures = new TestFigures()
  const ownership = new TestOwnership()
  const withdrawals = new TestWithdrawals(view)
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-audit-'))
  const audit = new AuditLog({ ...{ directory, clock, log }, fileLimitBytes: 1 << 20, fileLimit: 4 })
  audit.start()
  const app = createServer({
    log,
    ...(limits.proxies && { proxies: limits.proxies }),
    audit: { sink: audit, view, clock },
  })
  let isBuilt = false
  app.addHook('onReady', async () => {
    isBuilt = true
  })
  const routes: { readonly method: string; readonly url: string }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) if (each !== 'HEAD' && each !== 'OPTIONS') routes.push({ method: each, url })
  })
  const base = baseUrl(null)
  const networkDefaults = { returnPath: 'snat', segment: () => ({ physicalNetwork: 'physnet1', vlan: null }) } as const
  const turns = new RoundTurns({ clock: systemClock })
  const common = { admission, view, authenticator, clock, turns, baseUrl: base }
  const plenty = { perSecond: 100_000, burst: 100_000 }
  const shares = new RequestShares({ clock: systemClock, ...plenty })
  const bodies = new BodyBudget({ mostBytes: 64 * 1024 * 1024, mostBytesOfOne: 8 * 1024 * 1024 })
  const page = { publicUrl: null, foreign: limits.foreign ?? null, oidc: null }
  const gate = apiGate({
    authenticator,
    foreign: page.foreign,
    shares,
    bodies,
    turns,
    project: plenty,
    stranger: plenty,
  })
  const perUser = limits.credentialsPerUser ?? 100
  const credentials = new CredentialMaker({ admission, view, authenticator, clock, perUser })
  mount(app, identityApi({ ...common, region: 'RegionOne', services: SERVICES, credentials }), gate)
  /** Load balancers that the network service waited for, as they were then. */
  const settled: LoadBalancer[] = []
  const settle = async (loadBalancer: LoadBalancer) => settled.push(loadBalancer)
  mount(app, networkApi({ ...common, authenticate: authenticateBy(authenticator), networkDefaults, settle }), gate)
  mount(app, keyManagerApi({ ...common, authenticate: authenticateBy(authenticator) }), gate)
  const streams = new OpenStreams({ mostOfProject: 64, mostBytesOfProject: 32 * 1024 * 1024 })
  const dns = { names: () => [] }
  const domains: DomainChecks = {
    enabled: true,
    check: (id) => admission.concludeDomainCheck(id, { record: 'absent' }, 0),
  }
  const plans = new TestPlans(view, ownership)
  const readers = { status, figures, audit, ownership, withdrawals, plans }
  const parts = { ...readers, store, streams, networkDefaults, dns, domains, page }
  mount(app, nativeApi({ ...common, ...parts, credentials, linkPin: 'f'.repeat(32), leads: () => true }), gate)

  /** A user with one role in one project, and a token for it. */
  const login = async (name: string, projectId: string, role: Role) => {
    const user = {
      ...newUser({ name, description: '' }, clock),
      passwordHash: await passwords.hash('pw', { user: name, source: LOCAL_ADDRESS }),
      roles: [{ projectId, role }],
    }
    await admission.putUser(user)
    const { secret } = await authenticator.loginWithPassword({ id: user.id }, 'pw', { id: projectId }, '127.0.0.1')
    return { userId: user.id, token: secret }
  }
  const adminLogin = async () =>
    (await authenticator.loginWithPassword({ name: 'admin' }, ADMIN_PASSWORD, { name: 'admin' }, '127.0.0.1')).secret

  return {
    app,
    /** Sends a request to any surface, as OpenStack's clients do. */
    ask: (method: Method, url: string, token: string | null, payload?: unknown, headers: object = {}) =>
      inject(app, method, url, payload, { ...(token !== null && { 'x-auth-token': token }), ...headers }),
    /** Sends a request to the native API, with a path below its own. */
    askNative: (method: Method, path: string, token: string | null, payload?: unknown, headers: object = {}) =>
      inject(app, method, `/api/v1${path}`, payload, {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...headers,
      }),
    /** Every route of every surface, once the first request was answered. */
    routes: routes as readonly { readonly method: string; readonly url: string }[],
    store,
    view,
    admission,
    authenticator,
    audit,
    auditDirectory: directory,
    status,
    figures,
    ownership,
    withdrawals,
    settled,
    admin,
    login,
    adminLogin,
    close: async () => {
      // The first request builds the surfaces, in 50 ms and more, and so would closing them.
      if (isBuilt) await app.close()
      authenticator.tokens.stop()
      await audit.stop()
      rmSync(directory, { recursive: true })
      admission.close()
      stop.abort()
      await store.close()
    },
  }
}

export type TestBed = Awaited<ReturnType<typeof openTestBed>>
