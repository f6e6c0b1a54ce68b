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

/** A project's access to a server of the Octavia API. */
export interface OctaviaAccess {
  /** Before `/loadbalancers`. */
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
}

/** Calls the Octavia API. @throws Error when it is refused */
export const octavia = <T>(
  { endpoint }: SystemAccess,
  { token }: Tenant,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> =>
  askOctavia({ base: `${endpoint}/load-balancer/v2/lbaas`, headers: { 'x-auth-token': token } }, method, path, body)

/** Calls a server of the Octavia API. @throws Error when it is refused */
export async function askOctavia<T>(
  { base, headers }: OctaviaAccess,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
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
