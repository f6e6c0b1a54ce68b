import type { KubernetesApi } from '@spout/testkit'

const NAMESPACE = '/api/v1/namespaces/default'
export const SERVICES = `${NAMESPACE}/services`
export const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const PARALLEL = 16

/** The addresses of these benchmarks' endpoints and nodes do not exist: checks would be pointless. */
export const UNCHECKED = { 'spout.dev/monitor': 'none' }

/** Calls `what` for each number from `from` to before `to`, several at a time. */
export async function forEachNumber(from: number, to: number, what: (n: number) => Promise<unknown>): Promise<void> {
  let next = from
  const worker = async () => {
    while (next < to) await what(next++)
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
}

export interface ServiceSpec {
  readonly name: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: object
}

/** A Service of type LoadBalancer with port 80. */
export const createService = (api: KubernetesApi, { name, annotations = {}, spec = {} }: ServiceSpec) =>
  api.create(SERVICES, {
    metadata: { name, annotations },
    spec: { type: 'LoadBalancer', ports: [{ name: 'http', port: 80, protocol: 'TCP' }], ...spec },
  })

export interface SliceEndpoint {
  readonly address: string
  readonly nodeName?: string
}

/** A Service's slice, as the endpoint slice controller writes it. */
export const sliceOf = (service: string, port: number, endpoints: readonly SliceEndpoint[]) => ({
  metadata: { name: `${service}-a`, labels: { 'kubernetes.io/service-name': service } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port, protocol: 'TCP' }],
  endpoints: endpoints.map(({ address, ...node }) => ({
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
    ...node,
  })),
})

/** Creates Services number `from` to before `to`, without node ports, each with two endpoints of its own in a slice. */
export async function createServices(
  api: KubernetesApi,
  prefix: string,
  from: number,
  to: number,
  spec: object = {},
): Promise<void> {
  await forEachNumber(from, to, async (n) => {
    const name = `${prefix}-${n}`
    const endpoints = ['10.244.0.11', '10.244.0.12'].map((address) => ({ address }))
    await api.create(SLICES, sliceOf(name, 1024 + n, endpoints))
    await createService(api, {
      name,
      annotations: UNCHECKED,
      spec: { allocateLoadBalancerNodePorts: false, ...spec },
    })
  })
}

/** Creates a Node object without a kubelet, in the two steps of `createNode`: it counts once it has an address. */
export const createNode = (api: KubernetesApi, name: string, podCidr?: string) =>
  api.create('/api/v1/nodes', {
    metadata: { name },
    spec: podCidr === undefined ? {} : { podCIDR: podCidr, podCIDRs: [podCidr] },
  })

export const addressNode = (api: KubernetesApi, name: string, address: string) =>
  api.patchByKey(`/api/v1/nodes/${name}/status`, {
    status: {
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Bench', message: '' }],
    },
  })
