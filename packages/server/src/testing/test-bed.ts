import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { StoreAdmission, StoreView } from '@spout/admission'
import type { DomainChecks, LoadBalancer, Role } from '@spout/model'
import { type Clock, type Logger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { SealingKeys } from '@spout/runtime/sealing-keys'
import { MemoryStore } from '@spout/store'
import type { FastifyInstance } from 'fastify'
import { AuditLog } from '../audit/audit-log.ts'
import { authenticateBy } from '../authn/authenticate.ts'
import { Authenticator } from '../authn/authenticator.ts'
import { bootstrap } from '../authn/bootstrap.ts'
import { CredentialMaker } from '../authn/credential-maker.ts'
import type { ForeignTokens } from '../authn/foreign-session.ts'
import type { TokenBounds } from '../authn/grant-tokens.ts'
import { LOCAL_ADDRESS } from '../authn/login-source.ts'
import { newUser } from '../authn/new-user.ts'
import type { PageCookie } from '../authn/page-cookie.ts'
import { Passwords } from '../authn/password.ts'
import type { ServiceAccounts } from '../authn/service-accounts.ts'
import { baseUrl } from '../http/base-url.ts'
import type { ProxyTrust } from '../http/client-address.ts'
import { createServer, mount } from '../http/host.ts'
import { SERVICES } from '../identity/catalog.ts'
import { identityApi } from '../identity/identity-api.ts'
import { keyManagerApi } from '../key-manager/key-manager-api.ts'
import { apiGate } from '../limits/api-gate.ts'
import { BodyBudget } from '../limits/body-budget.ts'
import { OpenStreams } from '../limits/open-streams.ts'
import { RequestShares } from '../limits/request-shares.ts'
import { nativeApi } from '../native/native-api.ts'
import { networkApi } from '../network/network-api.ts'
import { RoundTurns } from '../turns/round-turns.ts'
import { TestPlans } from './test-plans.ts'
import { TestFigures, TestOwnership, TestStatus, TestWithdrawals } from './test-readers.ts'

export const ADMIN_PASSWORD = 'admin-password'

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
export const HOST_SEGMENTS = ['cluster'] as const

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
  const parts = { ...readers, store, streams, networkDefaults, hostSegments: HOST_SEGMENTS, dns, domains, page }
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
