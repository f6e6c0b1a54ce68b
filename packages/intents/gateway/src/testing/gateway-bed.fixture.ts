import type { KubeObject } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { issueCertificate } from '@spout/testkit/tls'
import {
  CLUSTER,
  endpointsOf,
  observed,
  openClusterBed,
  said,
} from '../../../../connector/src/testing/cluster-bed.fixture.ts'
import { GatewayController } from '../controller/gateway-controller.ts'
import { GatewayCluster } from '../kubernetes/gateway-cluster.ts'
import type { BackendTlsPolicyObject } from '../objects/backend-tls-policy.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { GrpcRouteObject } from '../objects/grpc-route.ts'
import type { HttpRouteObject } from '../objects/http-route.ts'
import type { ListenerSet } from '../objects/listener-set.ts'
import { CONTROLLER_NAME } from '../objects/names.ts'
import type { RouteObject } from '../objects/route.ts'
import { gatewaysOfCluster } from '../to-model/gateways/gateways-of.ts'
import { connectorToken } from './connector-rights.fixture.ts'
import { installGatewayApi } from './install-gateway-api.fixture.ts'

export { said }

const GROUP = '/apis/gateway.networking.k8s.io/v1'

/**
 * A cluster bed with Gateway API and a controller of Gateways that has only the rights of the shipped files. There
 * is a namespace `team` with the label `team: red`.
 */
export async function openGatewayBed() {
  const bed = await openClusterBed()
  const { api, spout, documents } = bed
  await installGatewayApi(api, ['udproutes', 'listenersets'])
  await api.create('/api/v1/namespaces', { metadata: { name: 'team', labels: { team: 'red' } } })
  const token = await connectorToken(api, { namespace: 'shop', name: 'cert' })
  for (const [name, controllerName] of [
    ['spout', CONTROLLER_NAME],
    ['foreign', 'x.org/y'],
  ] as const)
    await api.create(`${GROUP}/gatewayclasses`, typed('GatewayClass', { metadata: { name }, spec: { controllerName } }))

  const start = () =>
    bed.run(
      'gateway',
      async ({ transport, clock, log, backends, certificatesOf }) => {
        const calls: string[] = []
        const native = bed.native()
        const certificates = certificatesOf(bed.sessions)
        const knownGateways = gatewaysOfCluster(await native.list(), CLUSTER)
        const kube = new GatewayCluster({ transport, clock, log, knownGateways, backends })
        const controller = new GatewayController({
          ...{ certificates, cluster: kube, service: observed(native, calls), clock, log },
          settings: { cluster: CLUSTER, defaultPools: [] },
        })
        return { made: { controller, calls }, parts: [certificates, kube, controller] }
      },
      { token },
    )

  const pathOf = (plural: string, name: string, namespace: string) =>
    `${GROUP}/namespaces/${namespace}/${plural}/${name}`
  const gateway = (name: string, namespace = 'shop') => api.get<Gateway>(pathOf('gateways', name, namespace))
  const grpcRoute = (name: string, namespace = 'shop') =>
    api.get<GrpcRouteObject>(pathOf('grpcroutes', name, namespace))
  const connectionRoute = (kind: ConnectionKind, name: string) =>
    api.get<RouteObject>(pathOf(`${kind.toLowerCase()}s`, name, 'shop'))
  const route = (name: string, namespace = 'shop') => api.get<HttpRouteObject>(pathOf('httproutes', name, namespace))
  return {
    ...bed,
    start,
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
      await bed.slice(`${name}-1`, name, endpointsOf([address], { port: 3000, protocol }), namespace)
    },
    /** Domains of another project. */
    giveStranger: async (domains: readonly string[]) => {
      const { id } = await spout.admission.createProject({ name: 'stranger', description: '' })
      await spout.admission.changeProject(id, { domains: [...domains] })
    },
    createSecret: bed.secret,
  }
}

type ConnectionKind = 'TLSRoute' | 'TCPRoute' | 'UDPRoute'

/** Custom resources carry `apiVersion` and `kind`. */
const typed = <T extends KubeObject>(kind: string, object: T): T => ({
  ...object,
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
})

export type GatewayBed = Awaited<ReturnType<typeof openGatewayBed>>
