import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { StoreAdmission, StoreView } from '@spout/admission'
import { NodeLiveness, NodeStateTable, PlanController, Rebalancer, StatusController, Sweeper } from '@spout/controllers'
import { DEFAULT_PROVIDERS, octaviaApi } from '@spout/intent-octavia'
import { parseCidr } from '@spout/net'
import { Lifecycle, systemClock } from '@spout/runtime'
import type { Logger } from '@spout/runtime/logger'
import { Metrics } from '@spout/runtime/metrics'
import { whyNotReady } from '@spout/runtime/readiness'
import { StatusServer } from '@spout/runtime/status-server'
import {
  AgentLink,
  AuditLog,
  Authenticator,
  answerInPieces,
  auditDirectory,
  authenticateBy,
  baseUrl,
  bootstrap,
  bootstrapAccounts,
  CertificateAuthority,
  createServer,
  healthApi,
  identityApi,
  LocalSocket,
  mount,
  nativeApi,
  networkApi,
  noteError,
  OPENSTACK_BODY_LIMIT_BYTES,
  SERVICES,
  segmentChooser,
} from '@spout/server'
import { MemoryStore, SqliteStore, type Store } from '@spout/store'
import { adminPassword } from './admin-password.ts'
import { describeAnnouncements } from './announcement-metrics.ts'
import { apiCertificate, apiTls } from './api-certificate.ts'
import { ensurePodNetwork } from './cluster/pod-network.ts'
import type { ControlPlaneConfig } from './config.ts'
import { openLimits } from './limits.ts'
import { describeCertificate, describeObjects } from './metrics.ts'
import { readinessChecks } from './readiness.ts'

/** Puts the parts together in the order they need each other, starts them, and says where clients find it. */
export async function startControlPlane(
  config: ControlPlaneConfig,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Lifecycle> {
  mkdirSync(config.stateDirectory, { recursive: true, mode: 0o700 })
  const clock = systemClock
  const closing = new AbortController()
  const store = await openStore(config)
  const view = await StoreView.open(store, {
    signal: closing.signal,
    onInvalid: (ref, error) =>
      log.error({ event: 'object-invalid', ...ref, err: error }, 'a stored object was left out'),
    onListenerError: (error) => log.error({ event: 'listener-failed', bug: true, err: error }),
  })
  const admission = new StoreAdmission({ store, view, managementCidrs: config.network.managementCidrs })

  const liveness = new NodeLiveness({ clock, ...config.liveness })
  const nodeStates = new NodeStateTable()
  const status = new StatusController({ view, nodeStates, liveness, clock, log })
  const planner = new PlanController({ view, store, nodeStates, liveness, status, admission, clock, log })

  // The client of the Kubernetes API is loaded where there is a cluster: it takes megabytes.
  const homeCluster = config.kubernetes.enabled ? await import('./cluster/home-cluster.ts') : null
  const home = homeCluster === null ? null : await homeCluster.openHomeCluster(config, environment, { clock, log })
  const authenticator = new Authenticator({
    ...{ store, view, clock, log },
    tokenTtlMs: config.tokens.lifetimeSeconds * 1000,
    tokensPerGrant: config.tokens.perGrant,
    ...(home && { serviceAccounts: home.serviceAccounts }),
  })
  const password = adminPassword(config.stateDirectory, config.admin.password)
  await bootstrap(
    { admission, view, passwords: authenticator.passwords, clock },
    { projectName: config.admin.project, userName: config.admin.user, password },
  )
  if (view.list('nodeGroup').length === 0)
    await admission.createNodeGroup({
      name: 'default',
      description: 'Nodes that nobody put elsewhere',
      announcer: config.nodes.announcer,
      ...(config.nodes.announcer === 'bgp' && { bgp: { localAs: config.nodes.localAs ?? 0 } }),
    })

  await bootstrapAccounts({ admission, view, clock }, home?.serviceAccounts.accounts ?? [])
  if (home !== null) await ensurePodNetwork({ admission, view }, config.kubernetes)

  const authority = await CertificateAuthority.open(path.join(config.stateDirectory, 'agent-link'))
  const audit = new AuditLog({
    ...{ directory: auditDirectory(config.stateDirectory), clock, log },
    fileLimitBytes: config.audit.fileMegabytes * 1024 * 1024,
    fileLimit: config.audit.files,
  })
  const link = new AgentLink({
    audit,
    authority,
    store,
    view,
    admission,
    states: nodeStates,
    reports: status,
    clock,
    log,
    listen: { host: config.agentLink.host, port: config.agentLink.port },
    hosts: config.agentLink.names,
    ...(home && { cluster: { serviceAccounts: home.serviceAccounts, nodeGroup: config.kubernetes.nodeGroup } }),
  })

  const limits = openLimits(config, { authenticator, clock })
  const metrics = new Metrics()
  describeObjects(metrics, { view, status, planner, link, audit })
  describeAnnouncements(metrics, { view, status })
  const answered = metrics.histogram({
    name: 'spout_http_request_seconds',
    help: 'Time to answer a request',
    labels: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  })
  const certificate = config.api.tls ? apiCertificate(config, { authority, clock, log }) : null
  describeCertificate(metrics, certificate)
  const app = createServer({
    log,
    audit: { sink: audit, view, clock },
    proxies: {
      trustedProxies: config.api.trustedProxies.map((text) => parseCidr(text)),
      clientAddressFrom: config.api.clientAddressFrom,
    },
    ...(certificate && { https: await apiTls(certificate) }),
    onAnswer: ({ method, route, status: code, durationMs }) =>
      answered.observe({ method, route, status: String(code) }, durationMs / 1000),
  })
  limits.watch(app.server)
  const authenticate = authenticateBy(authenticator)
  const publicUrl = config.api.publicUrl === '' ? null : config.api.publicUrl
  const base = baseUrl(publicUrl)
  const networkDefaults = {
    returnPath: config.network.defaultReturnPath,
    segment: segmentChooser(
      view,
      { physicalNetwork: config.network.defaultPhysicalNetwork, vlans: config.network.vlans },
      () => clock.now().getTime(),
    ),
  }
  const octavia = {
    admission,
    view,
    status,
    authenticate,
    noteError,
    send: answerInPieces(limits.turns),
    clock,
    newId: randomUUID,
    options: { providers: DEFAULT_PROVIDERS, publicUrl, identityPath: '/identity/v3', settleMs: config.api.settleMs },
  }
  mount(app, healthApi())
  mount(
    app,
    nativeApi({
      admission,
      view,
      store,
      status,
      ownership: status,
      withdrawals: status.withdrawals,
      authenticator,
      audit,
      clock,
      linkPin: authority.pin,
      networkDefaults,
      streams: limits.streams,
      turns: limits.turns,
    }),
    limits.gate,
  )
  mount(
    app,
    identityApi({
      ...{ admission, view, authenticator, clock, baseUrl: base, region: 'RegionOne', services: SERVICES },
      credentialsPerUser: config.tokens.credentialsPerUser,
      turns: limits.turns,
    }),
    limits.gate,
  )
  mount(
    app,
    networkApi({ admission, view, authenticate, baseUrl: base, networkDefaults, turns: limits.turns }),
    limits.gate,
  )
  mount(
    app,
    {
      prefix: '/load-balancer',
      bodyLimitBytes: OPENSTACK_BODY_LIMIT_BYTES,
      open: [''],
      plugin: (scope) => octaviaApi(scope, octavia),
    },
    limits.gate,
  )

  const checks = readinessChecks({ store, nodeStates, view, status })
  const statusServer = new StatusServer({
    name: 'status',
    ...config.status,
    metrics,
    readiness: () => whyNotReady(checks),
  })
  const lifecycle = new Lifecycle({ log })
    .add({ name: 'store', start: () => {}, stop: () => store.close() })
    .add({ name: 'view', start: () => {}, stop: () => closing.abort() })
    .add(audit)
    .add(planner)
    .add({ name: 'authenticator', start: () => authenticator.start(), stop: () => authenticator.stop() })
    .add(new Sweeper({ view, store, clock, log }))
    .add(new Rebalancer({ view, status, admission, clock, log }))
    .add(link)
    .add(statusServer)
    .add({
      name: 'api',
      start: async () => {
        const address = await app.listen(config.api)
        // The workbench waits for this line and reads where to go from it.
        log.info(
          { event: 'listening', address, agentLinkPort: link.port, statusPort: statusServer.port },
          'the control plane is up',
        )
        certificate?.keep(app)
      },
      stop: () => {
        certificate?.stop()
        limits.close()
        return app.close()
      },
    })
  lifecycle.add(new LocalSocket({ app, path: path.join(config.stateDirectory, 'api.sock'), log }))
  if (home !== null) lifecycle.add({ name: 'home-cluster', start: () => {}, stop: () => home.close() })
  const { authorityConfigMap: configMap } = config.kubernetes
  if (home !== null && configMap !== '')
    lifecycle.add(home.authorityPublisher({ configMap, authority: authority.certificate, clock, log }))
  await lifecycle.start()
  return lifecycle
}

const openStore = (config: ControlPlaneConfig): Promise<Store> | Store =>
  config.store.engine === 'memory'
    ? new MemoryStore()
    : SqliteStore.open({ path: path.join(config.stateDirectory, 'spout.db') })
