import { type LoadBalancerService, NativeCertificates, NativeLoadBalancers, TlsCertificates } from '@spout/connector'
import { type ClusterAccess, type EndpointSlice, type Service, Transport } from '@spout/kube'
import type { LoadBalancer, LoadBalancerStatus } from '@spout/model'
import { createLogger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { openTestBed } from '../../../../server/src/test-bed.ts'
import type { ServiceControllerOptions, ServiceControllerSettings } from '../controller/context.ts'
import { ServiceController } from '../controller/service-controller.ts'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { servicesOfCluster } from '../to-model/services-of.ts'
import type { ServiceEvent } from '../write-back/events.ts'

export const CLASS = 'spout.dev/load-balancer'

/** A running controller, and a record of what it did. */
export interface RunningController {
  readonly controller: ServiceController
  readonly kube: KubeCluster
  /** Changing calls to the control plane, such as `replace`. */
  readonly calls: string[]
  /** Writes to the API server. */
  readonly writes: string[]
  readonly events: { readonly service: string; readonly event: ServiceEvent }[]
  /** Names of Services about which the API server was asked whether they are gone. */
  readonly asked: string[]
  /** Stops its watch of Services until `letGo` is called. */
  holdWatch(): { letGo(): void }
  stop(): Promise<void>
}

const WATCHES: readonly unknown[] = ['watch', 'poolChanges', 'watchNetworks']
const CHANGING = ['create', 'replace', 'changeMembers', 'changeRoutes', 'delete', 'addVip', 'removeVip'] as const

/**
 * A real API server, and a real control plane over HTTP (admission, store, native API) with one project. The test plays
 * the nodes' confirmations.
 */
export async function openControllerBed() {
  const lab = await Lab.create()
  const cluster = await KubernetesCluster.start(lab)
  const spout = await openTestBed()
  const endpoint = await spout.app.listen({ host: '127.0.0.1', port: 0 })
  const project = await spout.admission.createProject({ name: 'tenant', description: '' })
  const stranger = await spout.admission.createProject({ name: 'stranger', description: '' })
  const { token } = await spout.login('connector', project.id, 'balancer')
  const pool = (name: string, cidr: string, first: string, last: string, projectIds: string[] | null = null) =>
    spout.admission.createAddressPool({
      name,
      description: '',
      cidr,
      ranges: [{ first, last }],
      gatewayIp: null,
      projectIds,
      quarantineSeconds: 0,
    })
  const pools = {
    public: await pool('public', '198.51.100.0/24', '198.51.100.10', '198.51.100.200'),
    six: await pool('six', '2001:db8:1::/64', '2001:db8:1::10', '2001:db8:1::ff'),
    tiny: await pool('tiny', '203.0.113.0/24', '203.0.113.10', '203.0.113.10'),
    old: await pool('old', '192.0.2.0/24', '192.0.2.100', '192.0.2.109'),
    foreign: await pool('foreign', '192.0.2.0/24', '192.0.2.10', '192.0.2.20', [stranger.id]),
  }
  const network = await spout.admission.createNetwork({
    projectId: project.id,
    name: 'pods',
    description: '',
    returnPath: 'snat',
    segment: { physicalNetwork: 'physnet1', vlan: null },
  })
  for (const cidr of ['10.128.0.0/16', 'fd00:128::/64', '10.0.0.0/24'])
    await spout.admission.addSubnet(network.id, {
      name: '',
      description: '',
      cidr,
      gatewayIp: null,
      nodeRange: null,
    })
  const { api } = cluster
  for (const name of ['shop', 'other']) await api.create('/api/v1/namespaces', { metadata: { name } })

  const access = (): ClusterAccess => ({
    server: new URL(api.access.url),
    ca: api.authority,
    tlsServerName: null,
    skipTlsVerify: false,
    token: { type: 'value', token: new Secret(api.access.token) },
    clientCertificate: null,
    namespace: 'default',
  })
  const sessions = { session: async () => ({ endpoint, token }), forget: () => {} }
  const native = () => new NativeLoadBalancers(sessions)
  const running = new Set<RunningController>()

  async function start(
    overrides: Partial<ServiceControllerSettings> = {},
    hooks: ControllerHooks = {},
  ): Promise<RunningController> {
    const log = process.env['SPOUT_TEST_LOG'] ? createLogger({ name: 'test', level: 'debug' }) : silentLogger()
    const transport = new Transport({ access: access() })
    const writes: string[] = []
    const request = transport.request.bind(transport)
    const asked: string[] = []
    transport.request = async (wanted) => {
      const write = `${wanted.method} ${wanted.path}`
      if (wanted.method !== 'GET') {
        writes.push(write)
        await hooks.onWrite?.(write)
      }
      const [, name] = /^metadata\.name=(.*)$/.exec(String(wanted.query?.['fieldSelector'] ?? '')) ?? []
      if (name !== undefined) {
        asked.push(name)
        hooks.onQuestion?.()
      }
      return request(wanted)
    }
    let gate = Promise.withResolvers<void>()
    gate.resolve()
    const lines = transport.lines.bind(transport)
    transport.lines = async function* (wanted) {
      for await (const group of lines(wanted)) {
        if (wanted.path.endsWith('/services')) await gate.promise
        yield group
      }
    }
    const events: RunningController['events'] = []
    const settings: ServiceControllerSettings = {
      cluster: 'test-cluster',
      className: CLASS,
      isDefault: true,
      namespaces: null,
      mode: 'direct',
      defaultPools: ['public', 'six'],
      externalRanges: [],
      routesOfNetwork: null,
      ...overrides,
    }
    const inner = native()
    const known = servicesOfCluster(await inner.list(), settings.cluster)
    const kube = new KubeCluster({
      transport,
      clock: systemClock,
      log,
      className: settings.className,
      namespace: null,
      knownServices: known,
      tell: ({ metadata }, event) => void events.push({ service: metadata.name, event }),
    })
    const calls: string[] = []
    const service = observed(inner, calls, hooks.onCall)
    const certificates = new TlsCertificates({
      ...{ transport, cluster: settings.cluster, namers: ['service'], clock: systemClock, log },
      service: new NativeCertificates(sessions),
    })
    const controller = new ServiceController({
      ...{ cluster: kube, service, settings, clock: systemClock, log },
      certificates: hooks.certificates ?? certificates,
    })
    certificates.start()
    kube.start()
    controller.start()
    const made: RunningController = {
      controller,
      kube,
      calls,
      writes,
      events,
      asked,
      holdWatch: () => {
        gate = Promise.withResolvers<void>()
        return { letGo: gate.resolve }
      },
      stop: async () => {
        running.delete(made)
        gate.resolve()
        await controller.stop()
        await certificates.stop()
        await kube.stop()
        transport.close()
      },
    }
    running.add(made)
    return made
  }

  const servicePath = (name: string, namespace = 'shop') => `/api/v1/namespaces/${namespace}/services/${name}`
  const get = (name: string, namespace = 'shop') => api.get<Service>(servicePath(name, namespace))
  const documents = (): readonly LoadBalancer[] => spout.view.list('loadBalancer', { projectId: project.id })
  const documentOf = (one: Service): LoadBalancer | undefined =>
    documents().find(({ annotations }) => annotations[`kubernetes.service.${one.metadata.uid}`] !== undefined)

  return {
    lab,
    cluster,
    api,
    spout,
    pools,
    network,
    project,
    stranger,
    endpoint,
    access,
    start,
    get,
    servicePath,
    documents,
    documentOf,
    certificates: () => spout.view.list('certificate', { projectId: project.id }),
    /** Writes a Secret with a certificate for a name, or without any. */
    secret: (name: string, host: string | null) => {
      const { certificate, key } = issueCertificate({ names: [host ?? 'none'], days: 90 })
      const base64 = (text: string): string => Buffer.from(text).toString('base64')
      return api.apply(`/api/v1/namespaces/shop/secrets/${name}`, {
        ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name, namespace: 'shop' } },
        data: { 'tls.crt': base64(host === null ? 'none' : certificate), 'tls.key': base64(key) },
      })
    },
    /** Creates a Service of type LoadBalancer. */
    create: (name: string, spec: object = {}, annotations: Record<string, string> = {}, namespace = 'shop') =>
      api.create<Service>(`/api/v1/namespaces/${namespace}/services`, {
        metadata: { name, namespace, annotations },
        spec: {
          type: 'LoadBalancer',
          selector: {},
          ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
          ...spec,
        } as Service['spec'],
      }),
    change: (name: string, body: object, namespace = 'shop') => api.patch<Service>(servicePath(name, namespace), body),
    remove: (name: string, namespace = 'shop') => api.delete(servicePath(name, namespace)),
    /** Writes a slice of a Service by hand, as there are no pods. */
    slice: (
      serviceName: string,
      body: Omit<EndpointSlice, 'metadata'>,
      name = `${serviceName}-1`,
      namespace = 'shop',
    ) =>
      api.apply(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}`, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, namespace, labels: { 'kubernetes.io/service-name': serviceName } },
        ...body,
      }),
    /** The Service once the check passes. */
    when: (name: string, what: string, holds: (service: Service) => boolean | Promise<boolean>, namespace = 'shop') =>
      waitFor(
        async () => {
          const one = await get(name, namespace)
          return (await holds(one)) && one
        },
        { what: `${name}: ${what}`, timeoutMs: 15_000 },
      ),
    gone: (name: string, namespace = 'shop') =>
      waitFor(async () => (await get(name, namespace).catch(() => null)) === null, { what: `${name} to be gone` }),
    until: <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 15_000 }),
    /** The nodes confirm a load balancer, or report what is wrong. */
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

export type ControllerBed = Awaited<ReturnType<typeof openControllerBed>>

/** What a test does before its controller continues. */
export interface ControllerHooks {
  /** In place of those of the project. */
  readonly certificates?: NonNullable<ServiceControllerOptions['certificates']>
  /** Before the API server is asked whether a Service is gone; if it throws, that is the answer. */
  readonly onQuestion?: () => void
  /** Before a write is sent to the API server, `METHOD PATH`. */
  readonly onWrite?: (write: string) => Promise<void>
  /** Before a call to the control plane, by its name in `LoadBalancerService`. */
  readonly onCall?: (name: string) => Promise<void>
}

function observed(inner: LoadBalancerService, calls: string[], onCall: ControllerHooks['onCall']): LoadBalancerService {
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

export const ips = ({ status }: Service): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '')

export const condition = ({ status }: Service, type = 'spout.dev/Programmed') =>
  status?.conditions?.find((one) => one.type === type)
