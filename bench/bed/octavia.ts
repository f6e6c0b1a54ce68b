import { type SystemAccess, type Tenant, waitFor } from '@spout/testkit'

/** The fields of a load balancer's reply that are read here. */
export interface OctaviaLoadBalancer {
  readonly id: string
  readonly vip_address: string
  readonly provisioning_status: string
  readonly pools: readonly { readonly id: string }[]
}

/** One listener with a pool of members, created by one request. */
export interface Tree {
  readonly name: string
  readonly networkId: string
  readonly protocol: 'HTTP' | 'TCP' | 'UDP'
  readonly members: readonly Endpoint[]
}

export interface Endpoint {
  readonly address: string
  readonly protocol_port: number
}

/** Calls the Octavia API. @throws Error when it is refused */
export async function octavia<T>(
  { endpoint }: SystemAccess,
  { token }: Tenant,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${endpoint}/load-balancer/v2/lbaas${path}`, {
    method,
    headers: { 'x-auth-token': token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export async function createTree(access: SystemAccess, tenant: Tenant, tree: Tree): Promise<OctaviaLoadBalancer> {
  const { name, networkId, protocol, members } = tree
  const { loadbalancer } = await octavia<{ loadbalancer: OctaviaLoadBalancer }>(
    access,
    tenant,
    'POST',
    '/loadbalancers',
    {
      loadbalancer: {
        name,
        vip_network_id: networkId,
        listeners: [
          {
            name,
            protocol,
            protocol_port: 80,
            default_pool: { name, protocol, lb_algorithm: 'ROUND_ROBIN', members },
          },
        ],
      },
    },
  )
  return loadbalancer
}

/** Waits until every node that carries it has confirmed its newest version. */
export const untilActive = (access: SystemAccess, tenant: Tenant, id: string, everyMs = 1): Promise<boolean> =>
  waitFor(
    async () => {
      const { loadbalancer } = await octavia<{ loadbalancer: OctaviaLoadBalancer }>(
        access,
        tenant,
        'GET',
        `/loadbalancers/${id}?fields=provisioning_status`,
      )
      return loadbalancer.provisioning_status === 'ACTIVE'
    },
    { what: `load balancer ${id} to be active`, timeoutMs: 20_000, everyMs },
  )
