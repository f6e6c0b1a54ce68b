import {
  BackendServices,
  type LoadBalancerService,
  NativeCertificates,
  NativeLoadBalancers,
  ServiceSlices,
  TlsCertificates,
} from '@spout/connector'
import { type ClusterAccess, type Condition, type KubeObject, Transport } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { createLogger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { openTestBed } from '../../../../server/src/test-bed.ts'
import { GatewayController } from '../controller/gateway-controller.ts'
import { GatewayCluster } from '../kubernetes/gateway-cluster.ts'
import { CONTROLLER_NAME } from '../names.ts'
import type { BackendTlsPolicyObject } from '../objects/backend-tls-policy.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { GrpcRouteObject } from '../objects/grpc-route.ts'
import type { HttpRouteObject } from '../objects/http-route.ts'
import type { ListenerSet } from '../objects/listener-set.ts'
import type { RouteObject } from '../objects/route.ts'
import { gatewaysOfCluster } from '../to-model/gateways-of.ts'
import { connectorToken } from './connector-rights.fixture.ts'
import { installGatewayApi } from './install-gateway-api.fixture.ts'

const GROUP = '/apis/gateway.networking.k8s.io/v1'
const CLUSTER = 'test-cluster'

/**
 * A real API server with Gateway API, on which the controller has the rights of the shipped files alone, and a real control plane over HTTP (admission, store, native API) with one project.
 * The test plays the nodes' confirmations.
 */
export async function openGatewayBed() {
  const lab = await Lab.create()
  const cluster = await KubernetesCluster.start(lab)
  const spout = await openTestBed()
  const endpoint = await spout.app.listen({ host: '127.0.0.1', port: 0 })
  const project = await spout.admission.createProject({ name: 'tenant', description: '' })
  const { token } = await spout.login('connector', project.id, 'balancer')
  await spout.admission.createAddressPool({
    name: 'public',
    description: '',
    cidr: '198.51.100.0/24',
    ranges: [{ first: '198.51.100.10', last: '198.51.100.200' }],
    gatewayIp: null,
    projectIds: null,
    quarantineSeconds: 0,
  })
  const network = await spout.admission.createNetwork({
    projectId: project.id,
    name: 'pods',
    description: '',
    returnPath: 'snat',
    segment: { physicalNetwork: 'physnet1', vlan: null },
  })
  await spout.admission.addSubnet(network.id, {
    name: '',
    description: '',
    cidr: '10.128.0.0/16',
    gatewayIp: null,
    nodeRange: null,
  })
  const { api } = cluster
  await installGatewayApi(api, ['udproutes', 'listenersets'])
  for (const [name, labels] of [
    ['shop', {}],
    ['team', { team: 'red' }],
  ] as const)
    await api.create('/api/v1/namespaces', { metadata: { name, labels } })
  const access: ClusterAccess = {
    server: new URL(api.access.url),
    ca: api.authority,
    tlsServerName: null,
    skipTlsVerify: false,
    token: { type: 'value', token: new Secret(await connectorToken(api, { namespace: 'shop', name: 'cert' })) },
    clientCertificate: null,
    namespace: 'default',
  }
  for (const [name, controllerName] of [
    ['spout', CONTROLLER_NAME],
    ['foreign', 'x.org/y'],
  ] as const)
    await api.create(`${GROUP}/gatewayclasses`, typed('GatewayClass', { metadata: { name }, spec: { controllerName } }))

  const running = new Set<{ stop(): Promise<void> }>()
  async function start() {
    const log = process.env['SPOUT_TEST_LOG'] ? createLogger({ name: 'test', level: 'debug' }) : silentLogger()
    const transport = new Transport({ access })
    const writes: string[] = []
    const request = transport.request.bind(transport)
    transport.request = (wanted) => {
      if (wanted.method !== 'GET') writes.push(`${wanted.method} ${wanted.path}`)
      return request(wanted)
    }
    const calls: string[] = []
    const sessions = { session: async () => ({ endpoint, token }), forget: () => {} }
    const native = new NativeLoadBalancers(sessions)
    const common = { transport, clock: systemClock, log }
    const slices = new ServiceSlices({ ...common, namespace: null })
    const backends = new BackendServices({ ...common, namespace: null, slices })
    const kube = new GatewayCluster({
      ...common,
      knownGateways: gatewaysOfCluster(await native.list(), CLUSTER),
      backends,
    })
    const certificates = new TlsCertificates({
      ...common,
      service: new NativeCertificates(sessions),
      cluster: CLUSTER,
      namers: ['gateway'],
    })
    const controller = new GatewayController({
      certificates,
      cluster: kube,
      service: observed(native, calls),
      settings: { cluster: CLUSTER, defaultPools: [] },
      clock: systemClock,
      log,
    })
    slices.reflector.start()
    backends.start()
    certificates.start()
    kube.start()
    controller.start()
    const made = {
      controller,
      writes,
      calls,
      stop: async () => {
        running.delete(made)
        await controller.stop()
        await certificates.stop()
        await Promise.all([kube.stop(), backends.stop(), slices.reflector.close()])
        transport.close()
      },
    }
    running.add(made)
    return made
  }

  const documents = (): readonly LoadBalancer[] => spout.view.list('loadBalancer', { projectId: project.id })
  const pathOf = (plural: string, name: string, namespace: string) =>
    `${GROUP}/namespaces/${namespace}/${plural}/${name}`
  const until = <T>(what: string, probe: () => T | Promise<T>, timeoutMs = 15_000) =>
    waitFor(probe, { what, timeoutMs })
  const gateway = (name: string, namespace = 'shop') => api.get<Gateway>(pathOf('gateways', name, namespace))
  const grpcRoute = (name: string, namespace = 'shop') =>
    api.get<GrpcRouteObject>(pathOf('grpcroutes', name, namespace))
  const connectionRoute = (kind: ConnectionKind, name: string) =>
    api.get<RouteObject>(pathOf(`${kind.toLowerCase()}s`, name, 'shop'))
  const route = (name: string, namespace = 'shop') => api.get<HttpRouteObject>(pathOf('httproutes', name, namespace))
  return {
    api,
    start,
    documents,
    until,
    gateway,
    route,
    grpcRoute,
    connectionRoute,
    /** The kinds that a new bed lacks: UDPRoute and ListenerSet. */
    installLateKinds: () => installGatewayApi(api),
    gatewayClass: (name: string) => api.get<GatewayClass>(`${GROUP}/gatewayclasses/${name}`),
    documentOf: ({ metadata }: Gateway): LoadBalancer | undefined =>
      documents().find(({ annotations }) => annotations[`kubernetes.gateway.${metadata.uid}`] !== undefined),
    createGateway: (name: string, spec: object = {}, namespace = 'shop') =>
      api.create(
        `${GROUP}/namespaces/${namespace}/gateways`,
        typed<Gateway>('Gateway', {
          metadata: { name, namespace },
          spec: { gatewayClassName: 'spout', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }], ...spec },
        }),
      ),
    createRoute: (name: string, spec: object, namespace = 'shop') =>
      api.create(
        `${GROUP}/namespaces/${namespace}/httproutes`,
        typed<HttpRouteObject>('HTTPRoute', { kind: 'HTTPRoute', metadata: { name, namespace }, spec }),
      ),
    createGrpcRoute: (name: string, spec: object, namespace = 'shop') =>
      api.create(
        `${GROUP}/namespaces/${namespace}/grpcroutes`,
        typed('GRPCRoute', { metadata: { name, namespace }, spec }),
      ),
    listenerSet: (name: string, namespace = 'shop') => api.get<ListenerSet>(pathOf('listenersets', name, namespace)),
    /** Listeners are named `l0`, `l1` and so on. */
    createListenerSet: (name: string, gateway: string, listeners: readonly object[], namespace = 'shop') =>
      api.create(
        `${GROUP}/namespaces/${namespace}/listenersets`,
        typed<ListenerSet>('ListenerSet', {
          metadata: { name, namespace },
          spec: {
            parentRef: { name: gateway, namespace: 'shop' },
            listeners: listeners.map((one, at) => ({ name: `l${at}`, port: 80, protocol: 'HTTP', ...one })) as never,
          },
        }),
      ),
    policy: (name: string) => api.get<BackendTlsPolicyObject>(pathOf('backendtlspolicies', name, 'shop')),
    createPolicy: (name: string, spec: object) =>
      api.create(
        `${GROUP}/namespaces/shop/backendtlspolicies`,
        typed('BackendTLSPolicy', { metadata: { name, namespace: 'shop' }, spec }),
      ),
    /** A ConfigMap with authorities. */
    createAuthorities: (name: string) =>
      api.apply(`/api/v1/namespaces/shop/configmaps/${name}`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'shop' },
        data: { 'ca.crt': issueCertificate({ isAuthority: true }).certificate },
      }),
    createConnectionRoute: (kind: ConnectionKind, name: string, spec: object) =>
      api.create(
        `${GROUP}/namespaces/shop/${kind.toLowerCase()}s`,
        typed<RouteObject>(kind, { kind, metadata: { name, namespace: 'shop' }, spec }),
      ),
    createGrant: (name: string, spec: object, namespace: string) =>
      api.create(
        `${GROUP}/namespaces/${namespace}/referencegrants`,
        typed('ReferenceGrant', { metadata: { name, namespace }, spec }),
      ),
    change: (plural: 'gateways' | 'httproutes' | 'listenersets', name: string, body: object, namespace = 'shop') =>
      api.patch(pathOf(plural, name, namespace), body),
    remove: (
      plural: 'gateways' | 'httproutes' | 'listenersets' | 'grpcroutes' | 'tcproutes' | 'backendtlspolicies',
      name: string,
      namespace = 'shop',
    ) => api.delete(pathOf(plural, name, namespace)),
    /** A Service with one endpoint of this address. */
    createService: async (name: string, address: string, namespace = 'shop', protocol: 'TCP' | 'UDP' = 'TCP') => {
      await api.create(`/api/v1/namespaces/${namespace}/services`, {
        metadata: { name, namespace },
        spec: { ports: [{ name: 'http', port: 8080, targetPort: 3000, protocol }] },
      } as never)
      await api.apply(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}-1`, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: `${name}-1`, namespace, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        endpoints: [{ addresses: [address], conditions: { ready: true } }],
        ports: [{ name: 'http', port: 3000, protocol }],
      })
    },
    /** What names the project may have. */
    giveDomains: (domains: readonly string[]) => spout.admission.changeProject(project.id, { domains: [...domains] }),
    /** Domains of another project. */
    giveStranger: async (domains: readonly string[]) => {
      const { id } = await spout.admission.createProject({ name: 'stranger', description: '' })
      await spout.admission.changeProject(id, { domains: [...domains] })
    },
    certificates: () => spout.view.list('certificate', { projectId: project.id }),
    /** A Secret with a certificate for a name. */
    createSecret: (name: string, host: string, namespace = 'shop') => {
      const { certificate, key } = issueCertificate({ names: [host], days: 90 })
      const base64 = (text: string): string => Buffer.from(text).toString('base64')
      return api.apply(`/api/v1/namespaces/${namespace}/secrets/${name}`, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
      })
    },
    /** The nodes confirm a load balancer. */
    confirm: (document: LoadBalancer) =>
      spout.status.set(document.id, {
        provisioning: 'active',
        reason: 'Programmed',
        message: 'ok',
        confirmedGeneration: document.generation,
      }),
    close: async () => {
      for (const one of [...running]) await one.stop()
      await spout.close()
      await cluster.destroy()
      await lab.destroy()
    },
  }
}

type ConnectionKind = 'TLSRoute' | 'TCPRoute' | 'UDPRoute'

/** A custom resource says what it is. */
const typed = <T extends KubeObject>(kind: string, object: T): T => ({
  ...object,
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
})

export type GatewayBed = Awaited<ReturnType<typeof openGatewayBed>>

const CHANGING = ['create', 'replace', 'changeMembers', 'changeRoutes', 'delete', 'addVip', 'removeVip'] as const

/** Notes changing calls to the control plane. */
function observed(inner: LoadBalancerService, calls: string[]): LoadBalancerService {
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if ((CHANGING as readonly unknown[]).includes(name)) calls.push(String(name))
        return (value as (...all: unknown[]) => unknown).apply(target, args)
      }
    },
  })
}

/** Conditions as `status reason`, by type. */
export const said = (conditions: readonly Condition[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
