import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { parseCidr } from '@spout/net'
import { type Clock, type Component, Lifecycle, systemClock } from '@spout/runtime'
import type { Logger } from '@spout/runtime/logger'
import { Metrics } from '@spout/runtime/metrics'
import { whyNotReady } from '@spout/runtime/readiness'
import { StatusServer } from '@spout/runtime/status-server'
import {
  AgentLink,
  AuditLog,
  Authenticator,
  auditDirectory,
  CertificateAuthority,
  createServer,
  LocalSocket,
  type ServedCertificate,
} from '@spout/server'
import { describeAnnouncements } from './announcement-metrics.ts'
import { apiCertificate, apiTls } from './api-certificate.ts'
import { describeTenantCertificates } from './certificate-metrics.ts'
import type { HomeCluster } from './cluster/home-cluster.ts'
import type { ControlPlaneConfig } from './config.ts'
import { type ControlLoops, createControlLoops } from './control-loops.ts'
import { describeDns } from './dns-metrics.ts'
import { ensureFirstObjects } from './first-objects.ts'
import { type Keystone, openKeystone } from './keystone.ts'
import { type Limits, openLimits } from './limits.ts'
import { describeCertificate, describeObjects } from './metrics.ts'
import { type ModelStore, openModelStore } from './model-store.ts'
import { readinessChecks } from './readiness.ts'
import { mountSurfaces } from './surfaces.ts'

/** The dependencies of every part. */
interface Surroundings {
  readonly clock: Clock
  readonly log: Logger
}

/** Creates the parts in order of their dependencies, starts them, and logs where clients find the API. */
export async function startControlPlane(
  config: ControlPlaneConfig,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Lifecycle> {
  mkdirSync(config.stateDirectory, { recursive: true, mode: 0o700 })
  const around: Surroundings = { clock: systemClock, log }
  const { clock } = around
  const model = await openModelStore(config, log)
  const loops = createControlLoops(config, model, around)
  const home = await openHome(config, environment, around)
  const authenticator = createAuthenticator(config, model, home, around)
  await ensureFirstObjects(config, model, { authenticator, home, clock })
  const authority = await CertificateAuthority.open(path.join(config.stateDirectory, 'agent-link'))
  const audit = createAuditLog(config, around)
  const link = createAgentLink(config, { model, loops, authority, audit, home }, around)
  const keystone = openKeystone(config, model, around)
  const limits = openLimits(config, { authenticator, foreign: keystone?.tokens ?? null, clock })
  const certificate = config.api.tls ? apiCertificate(config, { authority, ...around }) : null
  const https = certificate && (await apiTls(certificate))
  const metrics = describeParts({ model, loops, link, audit, certificate, clock })
  const app = createApiServer(config, { audit, model, metrics, https, limits }, around)
  limits.watch(app.server)
  mountSurfaces(app, config, { model, loops, authenticator, audit, limits, clock, linkPin: authority.pin })
  const statusServer = createStatusServer(config, { model, loops, metrics })
  const lifecycle = new Lifecycle({ log })
    .add({ name: 'store', start: () => {}, stop: () => model.store.close() })
    .add({ name: 'view', start: () => {}, stop: () => model.closeView() })
    .add(audit)
    .add(loops.planner)
    .add({ name: 'authenticator', start: () => authenticator.tokens.start(), stop: () => authenticator.tokens.stop() })
    .add(loops.sweeper)
    .add(loops.rebalancer)
    .add(loops.dns)
    .add(loops.domains)
    .add(link)
    .add(statusServer)
    .add(apiComponent(config, { app, link, statusServer, certificate, limits, keystone }, log))
    .add(new LocalSocket({ app, path: path.join(config.stateDirectory, 'api.sock'), log }))
  if (home !== null) addHome(lifecycle, config, home, authority, around)
  await lifecycle.start()
  return lifecycle
}

function describeParts({
  model,
  loops: { status, planner, dns },
  link,
  audit,
  certificate,
  clock,
}: {
  readonly model: ModelStore
  readonly loops: ControlLoops
  readonly link: AgentLink
  readonly audit: AuditLog
  readonly certificate: ServedCertificate | null
  readonly clock: Clock
}): Metrics {
  const { view } = model
  const metrics = new Metrics()
  describeObjects(metrics, { view, status, planner, link, audit })
  describeAnnouncements(metrics, { view, status })
  describeDns(metrics, dns)
  describeTenantCertificates(metrics, { view, clock, unopened: () => model.unopenedCertificates })
  describeCertificate(metrics, certificate)
  return metrics
}

function createStatusServer(
  config: ControlPlaneConfig,
  {
    model: { store, view },
    loops: { nodeStates, status },
    metrics,
  }: { readonly model: ModelStore; readonly loops: ControlLoops; readonly metrics: Metrics },
): StatusServer {
  const checks = readinessChecks({ store, nodeStates, view, status })
  return new StatusServer({ name: 'status', ...config.status, metrics, readiness: () => whyNotReady(checks) })
}

/** The API's server, with what lives as long as it. */
function apiComponent(
  config: ControlPlaneConfig,
  {
    app,
    link,
    statusServer,
    certificate,
    limits,
    keystone,
  }: {
    readonly app: ReturnType<typeof createServer>
    readonly link: AgentLink
    readonly statusServer: StatusServer
    readonly certificate: ServedCertificate | null
    readonly limits: Limits
    readonly keystone: Keystone | null
  },
  log: Logger,
): Component {
  return {
    name: 'api',
    start: async () => {
      const address = await app.listen(config.api)
      // The workbench waits for this line and reads the addresses from it.
      log.info(
        { event: 'listening', address, agentLinkPort: link.port, statusPort: statusServer.port },
        'the control plane is up',
      )
      certificate?.keep(app)
    },
    stop: () => {
      certificate?.stop()
      limits.close()
      keystone?.close()
      return app.close()
    },
  }
}

/** The client of the Kubernetes API takes megabytes, so it is loaded only in a cluster. */
async function openHome(
  config: ControlPlaneConfig,
  environment: Readonly<Record<string, string | undefined>>,
  around: Surroundings,
): Promise<HomeCluster | null> {
  if (!config.kubernetes.enabled) return null
  const { openHomeCluster } = await import('./cluster/home-cluster.ts')
  return openHomeCluster(config, environment, around)
}

const createAuthenticator = (
  config: ControlPlaneConfig,
  { store, view }: ModelStore,
  home: HomeCluster | null,
  around: Surroundings,
): Authenticator =>
  new Authenticator({
    ...{ store, view, ...around },
    tokenTtlMs: config.tokens.lifetimeSeconds * 1000,
    tokenBounds: config.tokens,
    ...(home && { serviceAccounts: home.serviceAccounts }),
  })

const createAuditLog = (config: ControlPlaneConfig, around: Surroundings): AuditLog =>
  new AuditLog({
    ...{ directory: auditDirectory(config.stateDirectory), ...around },
    fileLimitBytes: config.audit.fileMegabytes * 1024 * 1024,
    fileLimit: config.audit.files,
  })

const createAgentLink = (
  config: ControlPlaneConfig,
  {
    model: { store, view, admission },
    loops,
    authority,
    audit,
    home,
  }: {
    readonly model: ModelStore
    readonly loops: ControlLoops
    readonly authority: CertificateAuthority
    readonly audit: AuditLog
    readonly home: HomeCluster | null
  },
  around: Surroundings,
): AgentLink =>
  new AgentLink({
    ...{ audit, authority, store, view, admission, states: loops.nodeStates, reports: loops.status, ...around },
    listen: { host: config.agentLink.host, port: config.agentLink.port },
    hosts: config.agentLink.names,
    ...(home && { cluster: { serviceAccounts: home.serviceAccounts, nodeGroup: config.kubernetes.nodeGroup } }),
  })

function createApiServer(
  config: ControlPlaneConfig,
  {
    audit,
    model: { view },
    metrics,
    https,
    limits,
  }: {
    readonly audit: AuditLog
    readonly model: ModelStore
    readonly metrics: Metrics
    readonly https: Awaited<ReturnType<typeof apiTls>> | null
    readonly limits: Limits
  },
  { clock, log }: Surroundings,
): ReturnType<typeof createServer> {
  const answered = metrics.histogram({
    name: 'spout_http_request_seconds',
    help: 'Time to answer a request',
    labels: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  })
  return createServer({
    log,
    audit: { sink: audit, view, clock },
    proxies: {
      trustedProxies: config.api.trustedProxies.map((text) => parseCidr(text)),
      clientAddressFrom: config.api.clientAddressFrom,
    },
    ...(https && { https }),
    known: limits.known.find,
    onAnswer: ({ method, route, status: code, durationMs }) =>
      answered.observe({ method, route, status: String(code) }, durationMs / 1000),
  })
}

function addHome(
  lifecycle: Lifecycle,
  config: ControlPlaneConfig,
  home: HomeCluster,
  authority: CertificateAuthority,
  around: Surroundings,
): void {
  lifecycle.add({ name: 'home-cluster', start: () => {}, stop: () => home.close() })
  const { authorityConfigMap: configMap } = config.kubernetes
  if (configMap !== '')
    lifecycle.add(home.authorityPublisher({ configMap, authority: authority.certificate, ...around }))
}
