import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { holderOf, Leadership, SHARED_LEASE } from '@spout/controllers'
import { parseCidr } from '@spout/net'
import { type Clock, type Component, Lifecycle, systemClock } from '@spout/runtime'
import type { Logger } from '@spout/runtime/logger'
import { Metrics } from '@spout/runtime/metrics'
import { whyNotReady } from '@spout/runtime/readiness'
import { StatusServer } from '@spout/runtime/status-server'
import {
  AuditLog,
  Authenticator,
  auditDirectory,
  CertificateAuthority,
  createServer,
  LocalSocket,
  pageCookie,
  type ServedCertificate,
} from '@spout/server'
import type { Store } from '@spout/store'
import { describeAnnouncements } from './announcement-metrics.ts'
import { apiCertificate, apiTls } from './api-certificate.ts'
import { describeTenantCertificates } from './certificate-metrics.ts'
import type { HomeCluster } from './cluster/home-cluster.ts'
import type { ControlPlaneConfig } from './config.ts'
import { describeDns } from './dns-metrics.ts'
import { describeAddressPools, describeReadiness, describeServing } from './fleet-metrics.ts'
import { type Keystone, openKeystone } from './keystone.ts'
import { LeaderPart } from './leader-part.ts'
import { type Limits, openLimits } from './limits.ts'
import { describeAnswers, describeCertificate, describeLeader, describeObjects } from './metrics.ts'
import { type ModelStore, openModelStore, openStore } from './model-store.ts'
import { openOidc } from './oidc.ts'
import { checkPeers, Peers } from './peers.ts'
import { type InstantCheck, readinessChecks, roleOf } from './readiness.ts'
import { mountSurfaces } from './surfaces.ts'

/** The dependencies of every part. */
interface Surroundings {
  readonly clock: Clock
  readonly log: Logger
}

/** What tests replace. */
interface Given {
  readonly clock?: Clock
  /** In place of the store that the configuration names. */
  readonly store?: Store
}

/** The name of the lease that the leader has. */
const LEADER = 'control-plane'

/**
 * Creates the parts in order of their dependencies, starts them, and logs where clients find the API.
 *
 * What is started here runs in every control plane: the store, the view, authentication and the APIs. What only the
 * leader does is its `LeaderPart`, which the leadership starts and stops.
 */
export async function startControlPlane(
  config: ControlPlaneConfig,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
  given: Given = {},
): Promise<Lifecycle> {
  checkPeers(config)
  mkdirSync(config.stateDirectory, { recursive: true, mode: 0o700 })
  const around: Surroundings = { clock: given.clock ?? systemClock, log }
  const { clock } = around
  const model = await openModelStore(config, given.store ?? (await openStore(config, environment)), log)
  const { store } = model
  const home = await openHome(config, environment, around)
  const authenticator = createAuthenticator(config, model, home, around)
  const authority = await CertificateAuthority.open(path.join(config.stateDirectory, 'agent-link'))
  const audit = createAuditLog(config, around)
  const part = new LeaderPart({ config, model, authenticator, authority, audit, home, ...around })
  const isAlone = config.peers.url === ''
  let peers: Peers | null = null
  const leadership = new Leadership({
    ...{ store, lease: LEADER, ...around },
    holder: holderOf(`${hostname()}-${randomBytes(4).toString('hex')}`, config.peers.url),
    lead: (lease) => part.start(lease),
    onLeader: () => peers?.relay.refresh(),
    ...(!isAlone && { times: SHARED_LEASE }),
  })
  const keystone = openKeystone(config, model, around)
  const oidc = openOidc(config, model, authenticator, around)
  const limits = openLimits(config, { authenticator, foreign: keystone?.tokens ?? null, clock })
  const certificate = config.api.tls ? apiCertificate(config, { authority, ...around }) : null
  const https = certificate && (await apiTls(certificate))
  const checks = readinessChecks({ store, view: model.view, leadership, part, relay: () => peers?.relay ?? null })
  const metrics = describeParts({ model, part, leadership, checks, audit, certificate, clock })
  const app = createApiServer(config, { audit, model, metrics, https, limits }, around)
  limits.watch(app.server)
  mountSurfaces(app, config, {
    ...{ model, part, authenticator, audit, limits, clock, linkPin: authority.pin },
    foreign: keystone?.tokens ?? null,
    oidc,
  })
  if (!isAlone) peers = new Peers({ config, authority, leadership, app, ...around })
  const role = () => (isAlone ? '' : roleOf(leadership))
  const statusServer = createStatusServer(config, { checks, role, metrics })
  const lifecycle = new Lifecycle({ log })
    .add({ name: 'store', start: () => {}, stop: () => store.close() })
    .add({ name: 'view', start: () => {}, stop: () => model.closeView() })
    .add(audit)
    .add({ name: 'home-cluster', start: () => {}, stop: () => home?.close() })
    .add(peers?.credentials ?? leadership)
    .add(statusServer)
    .add(apiComponent(config, { app, part, statusServer, certificate, limits, keystone }, log))
    .add(
      new LocalSocket({
        app,
        ahead: peers?.relay.take ?? null,
        path: path.join(config.stateDirectory, 'api.sock'),
        log,
      }),
    )
  // Of several, it gives the lease up before its API ends, so that another leads meanwhile.
  if (peers !== null) lifecycle.add(peers.server).add(leadership).add(peers.finding)
  await lifecycle.start()
  return lifecycle
}

function describeParts({
  model,
  part,
  leadership,
  checks,
  audit,
  certificate,
  clock,
}: {
  readonly model: ModelStore
  readonly part: LeaderPart
  readonly leadership: Leadership
  readonly checks: readonly InstantCheck[]
  readonly audit: AuditLog
  readonly certificate: ServedCertificate | null
  readonly clock: Clock
}): Metrics {
  const { view } = model
  const metrics = new Metrics()
  describeObjects(metrics, { view, part, audit })
  describeLeader(metrics, leadership)
  describeReadiness(metrics, checks)
  describeServing(metrics, { view, status: part.status })
  describeAddressPools(metrics, { view, clock })
  describeAnnouncements(metrics, { view, status: part.status })
  describeDns(metrics, part)
  describeTenantCertificates(metrics, { view, clock, unopened: () => model.unopenedCertificates })
  describeCertificate(metrics, certificate)
  return metrics
}

const createStatusServer = (
  config: ControlPlaneConfig,
  {
    checks,
    role,
    metrics,
  }: { readonly checks: readonly InstantCheck[]; readonly role: () => string; readonly metrics: Metrics },
): StatusServer =>
  new StatusServer({ name: 'status', ...config.status, metrics, readiness: () => whyNotReady(checks), role })

/** The API's server, with what lives as long as it. */
function apiComponent(
  config: ControlPlaneConfig,
  {
    app,
    part,
    statusServer,
    certificate,
    limits,
    keystone,
  }: {
    readonly app: ReturnType<typeof createServer>
    readonly part: LeaderPart
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
        { event: 'listening', address, agentLinkPort: part.agentLinkPort, statusPort: statusServer.port },
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
    cookie: pageCookie(config.api.tls || config.api.publicUrl.startsWith('https:')),
    ...(home && { serviceAccounts: home.serviceAccounts }),
  })

const createAuditLog = (config: ControlPlaneConfig, around: Surroundings): AuditLog =>
  new AuditLog({
    ...{ directory: auditDirectory(config.stateDirectory), ...around },
    fileLimitBytes: config.audit.fileMegabytes * 1024 * 1024,
    fileLimit: config.audit.files,
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
  return createServer({
    log,
    audit: { sink: audit, view, clock },
    proxies: {
      trustedProxies: config.api.trustedProxies.map((text) => parseCidr(text)),
      clientAddressFrom: config.api.clientAddressFrom,
    },
    ...(https && { https }),
    known: limits.known.find,
    onAnswer: describeAnswers(metrics),
  })
}
