import { FAST_PORTS, type Kubernetes, type KubernetesApi, memberAddress } from '@spout/testkit'
import { forEachNumber } from '../kubernetes/objects.ts'

/** Our class. */
export const OURS = 'spout'

const apiVersion = 'gateway.networking.k8s.io/v1'
const GROUP = `/apis/${apiVersion}`
export const GATEWAYS = (namespace = 'default'): string => `${GROUP}/namespaces/${namespace}/gateways`
export const HTTP_ROUTES = (namespace = 'default'): string => `${GROUP}/namespaces/${namespace}/httproutes`
const SERVICES_OF = (namespace: string): string => `/api/v1/namespaces/${namespace}/services`
export const SLICES_OF = (namespace = 'default'): string =>
  `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`

export interface ShownGateway extends Kubernetes.KubernetesObject {
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[]
    readonly conditions?: readonly Kubernetes.Condition[]
    readonly listeners?: readonly { readonly attachedRoutes: number }[]
  }
}

interface GatewayBody {
  readonly name: string
  readonly namespace: string
  readonly gatewayClass: string
  readonly port: number
}

/** A Gateway with one HTTP listener that takes routes of all namespaces. */
export const createGateway = (api: KubernetesApi, { name, namespace, gatewayClass, port }: GatewayBody) =>
  api.create(GATEWAYS(namespace), {
    ...{ apiVersion, kind: 'Gateway', metadata: { name } },
    spec: {
      gatewayClassName: gatewayClass,
      listeners: [{ name: 'http', port, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }],
    },
  })

/** A slice of a Service with one endpoint: a port of the member. */
export const sliceBody = (service: string, port: number) => ({
  metadata: { name: `${service}-a`, labels: { 'kubernetes.io/service-name': service } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port, protocol: 'TCP' }],
  endpoints: [{ addresses: [memberAddress(0)], conditions: { ready: true, serving: true, terminating: false } }],
})

/** A Service with port 80 and such a slice. */
export async function createBackend(
  api: KubernetesApi,
  name: string,
  { namespace = 'default', port = FAST_PORTS.first }: { readonly namespace?: string; readonly port?: number } = {},
): Promise<void> {
  await api.create(SERVICES_OF(namespace), {
    metadata: { name },
    spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
  })
  await api.create(SLICES_OF(namespace), sliceBody(name, port))
}

export interface RouteBody {
  readonly name: string
  readonly namespace?: string
  readonly gateway: string
  readonly hostname: string
  readonly rules: readonly object[]
}

const routeOf = ({ name, gateway, hostname, rules }: RouteBody) => ({
  ...{ apiVersion, kind: 'HTTPRoute', metadata: { name } },
  spec: { parentRefs: [{ name: gateway }], hostnames: [hostname], rules },
})

export const createRoute = (api: KubernetesApi, body: RouteBody) =>
  api.create(HTTP_ROUTES(body.namespace), routeOf(body))

/** Rules that send everything to a Service. */
export const toService = (name: string): readonly object[] => [{ backendRefs: [{ name, port: 80 }] }]

const header = (type: string, field: string, name: string) => ({
  type,
  [field]: { add: [{ name, value: 'added' }] },
})
const FILTERS = [
  header('RequestHeaderModifier', 'requestHeaderModifier', 'added-header'),
  header('ResponseHeaderModifier', 'responseHeaderModifier', 'added-resp-header'),
]
const prefix = (value: string) => [{ path: { type: 'PathPrefix', value } }]

/** A name and a path of route number n; only there it answers 200. */
export const placeOf = (n: number) => ({ hostname: `${n}-route.example.com`, path: `/${n}` })

/**
 * Route number n as the probe of gateway-api-bench has it: a name and a path of its own to the Service `backend`, two
 * filters, and a second rule to a Service that does not exist.
 */
export const createProbeRoute = (api: KubernetesApi, gateway: string, n: number) => {
  const { hostname, path } = placeOf(n)
  return createRoute(api, {
    ...{ name: `${gateway}-${n}`, gateway, hostname },
    rules: [
      { matches: prefix(path), filters: FILTERS, backendRefs: [{ name: 'backend', port: 80 }] },
      { matches: prefix('/'), filters: FILTERS, backendRefs: [{ name: 'invalid-backend', port: 80 }] },
    ],
  })
}

/** Creates routes number `from` to before `to`, several at a time. */
export const createProbeRoutes = (api: KubernetesApi, gateway: string, from: number, to: number): Promise<void> =>
  forEachNumber(from, to, (n) => createProbeRoute(api, gateway, n))
