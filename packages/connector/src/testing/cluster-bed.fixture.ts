import { Endpoints } from '@spout/client/endpoints'
import {
  BackendServices,
  type LoadBalancerService,
  NativeCertificates,
  NativeLoadBalancers,
  type OwnerKind,
  ServiceSlices,
  TlsCertificates,
} from '@spout/connector'
import { type ClusterAccess, type Condition, Transport } from '@spout/kube'
import type { LoadBalancer, LoadBalancerStatus } from '@spout/model'
import { createLogger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { openTestBed } from '../../../server/src/testing/test-bed.ts'

/** The id of the cluster. */
export const CLUSTER = 'test-cluster'

/**
 * A real API server with the namespaces `shop` and `other`, and a real control plane over HTTP (admission, store,
 * native API) with one project, a pool `public` and a network `pods`. The test confirms load balancers in the nodes'
 * place.
 * @param cidrs the prefixes of the network's subnets
 */
export async function openClusterBed(cidrs: readonly string[] = ['10.128.0.0/16']) {
  const lab = await Lab.create()
  const cluster = await KubernetesCluster.start(lab)
  const spout = await openTestBed()
  const endpoint = await spout.app.listen({ host: '127.0.0.1', port: 0 })
  const project = await spout.admission.createProject({ name: 'tenant', description: '' })

  const pool = (name: string, cidr: string, first: string, last: string, projectIds: string[] | null = null) =>
    spout.admission.createAddressPool({
      ...{ name, description: '', cidr, ranges: [{ first, last }], gatewayIp: null, projectIds, quarantineSeconds: 0 },
    })
  const createNetwork = async (projectId: string, physicalNetwork: string, subnets: readonly string[]) => {
    const network = await spout.admission.createNetwork({
      ...{ projectId, name: 'pods', description: '', returnPath: 'snat', segment: { physicalNetwork, vlan: null } },
    })
    for (const cidr of subnets)
      await spout.admission.addSubnet(network.id, { name: '', description: '', cidr, gatewayIp: null, nodeRange: null })
    return network
  }
  /** Sessions with the role `balancer` in one project. */
  const sessionsOf = async (projectId: string, user = 'connector') => {
    const { token } = await spout.login(user, projectId, 'balancer')
    return { session: async () => ({ endpoints: new Endpoints([endpoint]), token }), forget: () => {} }
  }
  await pool('public', '198.51.100.0/24', '198.51.100.10', '198.51.100.200')
  const network = await createNetwork(project.id, 'physnet1', cidrs)
  const sessions = await sessionsOf(project.id)
  const { api } = cluster
  for (const name of ['shop', 'other']) await api.create('/api/v1/namespaces', { metadata: { name } })
  const access = (token = api.access.token): ClusterAccess => ({
    server: new URL(api.access.url),
    ca: api.authority,
    tlsServerName: null,
    skipTlsVerify: false,
    token: { type: 'value', token: new Secret(token) },
    clientCertificate: null,
    namespace: 'default',
  })

  const running = new Set<{ stop(): Promise<void> }>()

  /**
   * Starts a controller for the objects of one kind.
   * @param compose makes the controller's parts. They start in this order, after the shared ones, and stop in reverse
   * @returns what `compose` made, the writes to the API server as `METHOD path`, and a function that stops everything
   */
  async function run<Made extends object>(
    kind: OwnerKind,
    compose: (connection: Connection) => Promise<Composed<Made>> | Composed<Made>,
    { token = api.access.token, onRequest }: RunOptions = {},
  ) {
    const log = process.env['SPOUT_TEST_LOG'] ? createLogger({ name: 'test', level: 'debug' }) : silentLogger()
    const transport = new Transport({ access: access(token) })
    const writes = noteWrites(transport, onRequest)
    const common = { transport, clock: systemClock, log }
    const slices = new ServiceSlices({ ...common, namespace: null })
    const backends = new BackendServices({ ...common, namespace: null, slices })
    const certificatesOf = (of: typeof sessions) =>
      new TlsCertificates({ ...common, service: new NativeCertificates(of), cluster: CLUSTER, namers: [kind] })
    const { made, parts } = await compose({ ...common, slices, backends, certificatesOf })
    const all: readonly Part[] = [
      { start: () => slices.reflector.start(), stop: () => slices.reflector.close() },
      backends,
      ...parts,
    ]
    for (const part of all) part.start()
    const started = {
      ...made,
      writes,
      stop: async () => {
        running.delete(started)
        for (const part of all.toReversed()) await part.stop()
        transport.close()
      },
    }
    running.add(started)
    return started
  }

  return {
    ...{ lab, cluster, api, spout, endpoint, project, network, sessions, access, run },
    ...{ pool, createNetwork, sessionsOf },
    native: () => new NativeLoadBalancers(sessions),
    documents: (): readonly LoadBalancer[] => spout.view.list('loadBalancer', { projectId: project.id }),
    until: <T>(what: string, probe: () => T | Promise<T>, timeoutMs = 20_000) => waitFor(probe, { what, timeoutMs }),
    /** Sets the project's domains. */
    giveDomains: (domains: readonly string[]) => spout.admission.changeProject(project.id, { domains: [...domains] }),
    certificates: () => spout.view.list('certificate', { projectId: project.id }),
    /** Writes a Secret with a certificate for a name; null: with an invalid one. */
    secret: (name: string, host: string | null, namespace = 'shop') => {
      const { certificate, key } = issueCertificate({ names: [host ?? 'none'], days: 90 })
      const base64 = (text: string): string => Buffer.from(text).toString('base64')
      return api.apply(`/api/v1/namespaces/${namespace}/secrets/${name}`, {
        ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name, namespace } },
        data: { 'tls.crt': base64(host === null ? 'none' : certificate), 'tls.key': base64(key) },
      })
    },
    /** Writes an EndpointSlice by hand, because there are no pods. @param service null: the slice is of no Service */
    slice: (name: string, service: string | null, body: object, namespace = 'shop') =>
      api.apply(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}`, {
        ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
        metadata: { name, namespace, labels: service === null ? {} : { 'kubernetes.io/service-name': service } },
        ...body,
      }),
    /** Sets a load balancer's status: confirmed by the nodes, or as given. */
    confirm: (document: LoadBalancer, status: Partial<LoadBalancerStatus> = {}) =>
      spout.status.set(document.id, {
        provisioning: 'active',
        reason: 'Programmed',
        message: 'ok',
        confirmedGeneration: document.generation,
        ...status,
      }),
    close: async () => {
      for (const one of [...running]) await one.stop()
      await spout.close()
      await cluster.destroy()
      await lab.destroy()
    },
  }
}

export type ClusterBed = Awaited<ReturnType<typeof openClusterBed>>

interface Part {
  start(): void
  stop(): Promise<void>
}

export interface RunOptions {
  /** A token of the API server; left out: the administrator's. */
  readonly token?: string
  /** Called after a request to the API server was noted, and before it is sent. */
  readonly onRequest?: (request: Parameters<Transport['request']>[0]) => Promise<void> | void
}

/** The shared parts of a connector, from which the controller of a kind is made. */
export interface Connection {
  readonly transport: Transport
  readonly clock: typeof systemClock
  readonly log: ReturnType<typeof silentLogger>
  readonly slices: ServiceSlices
  readonly backends: BackendServices
  readonly certificatesOf: (sessions: ClusterBed['sessions']) => TlsCertificates
}

export interface Composed<Made> {
  readonly made: Made
  readonly parts: readonly Part[]
}

/** Notes `METHOD path` of each request that changes something. */
function noteWrites(transport: Transport, onRequest: RunOptions['onRequest']): string[] {
  const writes: string[] = []
  const request = transport.request.bind(transport)
  transport.request = async (wanted) => {
    if (wanted.method !== 'GET') writes.push(`${wanted.method} ${wanted.path}`)
    await onRequest?.(wanted)
    return request(wanted)
  }
  return writes
}

/** The body of an EndpointSlice with ready endpoints and one port. */
export const endpointsOf = (
  addresses: readonly string[],
  port: { readonly name?: string; readonly port: number; readonly protocol?: string } = { port: 8080 },
) => ({
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ports: [{ name: 'http', protocol: 'TCP', ...port }],
})

const WATCHES: readonly unknown[] = ['watch', 'poolChanges', 'watchNetworks', 'watchDomains']
const CHANGING = ['create', 'replace', 'changeMembers', 'changeRoutes', 'delete', 'addVip', 'removeVip'] as const

/**
 * Notes the names of changing calls to the control plane, such as `replace`.
 * @param onCall called with the name before each call, except watches
 */
export function observed(
  inner: LoadBalancerService,
  calls: string[],
  onCall?: (name: string) => Promise<void>,
): LoadBalancerService {
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if ((CHANGING as readonly unknown[]).includes(name)) calls.push(String(name))
        const call = () => (value as (...all: unknown[]) => unknown).apply(target, args)
        return onCall === undefined || WATCHES.includes(name) ? call() : onCall(String(name)).then(call)
      }
    },
  })
}

/** Conditions as `status reason`, by type. */
export const said = (conditions: readonly Condition[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
