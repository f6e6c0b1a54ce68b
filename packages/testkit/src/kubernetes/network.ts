import { must, run } from '../lab/run.ts'
import { FABRIC, TENANT_SUBNET } from '../lab/topology.ts'

/** The segment of a cluster's nodes, besides the management network. */
export type NodeSegment = 'fabric' | 'tenant-a' | 'tenant-b'

/** Limits per lab: clusters, and nodes in each. Pod and Service ranges are the same in all clusters, on purpose. */
export const MOST_CLUSTERS = 4
export const MOST_NODES = 12

export const POD_CIDRS = ['10.244.0.0/16', 'fd44::/48'] as const
export const SERVICE_CIDRS = ['10.96.0.0/16', 'fd96::/112'] as const
/** First address of each service range: the Service `kubernetes`. */
export const API_CLUSTER_IPS = ['10.96.0.1', 'fd96::1'] as const

export interface NodeNetwork {
  /** Addresses on the segment, IPv4 first, as in the Node object. */
  readonly addresses: readonly [string, string]
  /** Address on the management network, which leads to the API server. */
  readonly managementAddress: string
  /** IPv4 first. */
  readonly podCidrs: readonly [string, string]
}

/** Management address of the control plane of cluster `cluster` in lab number `lab`. */
export const controlPlaneAddress = (lab: number, cluster: number): string => `198.18.${lab}.${5 + cluster}`

/**
 * Addresses of node number `index` (from 0): on the fabric .4 to .15, between the load-balancer nodes and the public
 * range; in a tenant's subnet from .32 on, after the lab's members.
 */
export function nodeNetwork(lab: number, cluster: number, segment: NodeSegment, index: number): NodeNetwork {
  const hex = (value: number): string => value.toString(16)
  return {
    addresses:
      segment === 'fabric'
        ? [`198.51.100.${4 + index}`, `2001:db8:f::${hex(4 + index)}`]
        : [`10.0.0.${32 + index}`, `fd10::${hex(0x32 + index)}`],
    managementAddress: `198.18.${lab}.${32 + cluster * 16 + index}`,
    // In canonical form (RFC 5952), as the API server wants addresses in EndpointSlices.
    podCidrs: [`10.244.${index}.0/24`, index === 0 ? 'fd44::/64' : `fd44:0:0:${hex(index)}::/64`],
  }
}

const gateways = (segment: NodeSegment): readonly [string, string] => {
  const { gateway, gateway6 } = segment === 'fabric' ? FABRIC : TENANT_SUBNET
  return [gateway, gateway6]
}

/** Runs lines of `ip` in a network namespace; null is this process's own. */
export async function ipLines(namespace: string | null, lines: readonly string[]): Promise<void> {
  await must(['ip', ...(namespace === null ? [] : ['-n', namespace]), '-batch', '-'], {
    input: `${lines.join('\n')}\n`,
  })
}

const ROUTER_SYSCTLS = ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']
const QUIET_SYSCTLS = [
  'net.ipv6.conf.all.accept_dad=0',
  'net.ipv6.conf.default.accept_dad=0',
  'net.ipv6.conf.default.accept_ra=0',
]

async function addNamespace(namespace: string, sysctls: readonly string[]): Promise<void> {
  await must(['ip', 'netns', 'add', namespace])
  await must(['ip', 'netns', 'exec', namespace, 'sysctl', '-qw', ...QUIET_SYSCTLS, ...sysctls])
  await ipLines(namespace, ['link set dev lo up'])
}

/** Connects a namespace to a switch of the lab; `port` is the switch's end, at most 15 characters. */
async function plug(fabric: string, port: string, segment: string, namespace: string, link: string): Promise<void> {
  await ipLines(fabric, [
    `link add name ${port} type veth peer name ${link} netns ${namespace}`,
    `link set dev ${port} master br-${segment}`,
    `link set dev ${port} up`,
  ])
  await ipLines(namespace, [`link set dev ${link} up`])
}

/** Name of the switch's end of a node's data link. */
export const nodePort = (cluster: number, index: number): string => `k${cluster}n${index}-data`
/** The same of its management link. */
export const nodeManagementPort = (cluster: number, index: number): string => `k${cluster}n${index}-mgmt`

/** The namespace of a cluster's control plane: only on the management network, with routes to the pods. */
export async function addControlPlanePlace(
  fabric: string,
  namespace: string,
  lab: number,
  cluster: number,
): Promise<void> {
  await addNamespace(namespace, [])
  await plug(fabric, `k${cluster}-mgmt`, 'mgmt', namespace, 'mgmt0')
  await ipLines(namespace, [`addr add ${controlPlaneAddress(lab, cluster)}/24 dev mgmt0`])
}

/** Management address of the tester of lab number `lab`. */
const testerAddress = (lab: number): string => `198.18.${lab}.9`

/** The namespace of somebody who tests a cluster: a client of the load balancers that also reaches the API server. */
export async function addTesterPlace(fabric: string, namespace: string, lab: number): Promise<void> {
  await addNamespace(namespace, [])
  await plug(fabric, 'tester-mgmt', 'mgmt', namespace, 'mgmt0')
  await plug(fabric, 'tester', 'client', namespace, 'eth0')
  await ipLines(namespace, [
    `addr add ${testerAddress(lab)}/24 dev mgmt0`,
    'addr add 203.0.113.11/24 dev eth0',
    'addr add 2001:db8:c::11/64 dev eth0 nodad',
    'route add default via 203.0.113.1 dev eth0',
    'route add default via 2001:db8:c::1 dev eth0',
  ])
}

/** Address of master number `index` (from 0) on the fabric, and of the place of their etcd. */
export const masterAddress = (index: number): string => `198.51.100.${4 + index}`
export const ETCD_ADDRESS = '198.51.100.8'
/** Management address of master number `index` in lab number `lab`. */
export const masterManagementAddress = (lab: number, index: number): string => `198.18.${lab}.${96 + index}`
/** The switch's end of a master's cable. */
export const masterPort = (index: number): string => `master${index}`

/** The namespace of a machine on the fabric, with interface `fab0`. */
export async function addFabricPlace(fabric: string, namespace: string, port: string, address: string): Promise<void> {
  await addNamespace(namespace, [])
  await plug(fabric, port, 'fabric', namespace, 'fab0')
  await ipLines(namespace, [`addr add ${address}/24 dev fab0`, `route add default via ${FABRIC.gateway} dev fab0`])
}

/** Connects such a machine to the management network, too. */
export async function addManagement(fabric: string, namespace: string, port: string, address: string): Promise<void> {
  await plug(fabric, `${port}-mgmt`, 'mgmt', namespace, 'mgmt0')
  await ipLines(namespace, [`addr add ${address}/24 dev mgmt0`])
}

export interface NodePlace {
  readonly fabric: string
  readonly namespace: string
  readonly cluster: number
  readonly index: number
  readonly segment: NodeSegment
  readonly network: NodeNetwork
}

/** The namespace of a node: `data0` on its segment, `mgmt0` to the API server, forwarding on. */
export async function addNodePlace({ fabric, namespace, cluster, index, segment, network }: NodePlace): Promise<void> {
  await addNamespace(namespace, ROUTER_SYSCTLS)
  await plug(fabric, nodePort(cluster, index), segment, namespace, 'data0')
  await plug(fabric, nodeManagementPort(cluster, index), 'mgmt', namespace, 'mgmt0')
  const [gateway, gateway6] = gateways(segment)
  await ipLines(namespace, [
    `addr add ${network.addresses[0]}/24 dev data0`,
    `addr add ${network.addresses[1]}/64 dev data0 nodad`,
    `addr add ${network.managementAddress}/24 dev mgmt0`,
    `route add default via ${gateway} dev data0`,
    `route add default via ${gateway6} dev data0`,
  ])
}

/** Lines of `ip` that route to a node's pods through the node's addresses. */
export const podRoutes = ({ addresses, podCidrs }: NodeNetwork): readonly string[] =>
  podCidrs.map((cidr, family) => `route replace ${cidr} via ${addresses[family]}`)

/** Removes routes to pods, if they exist. */
export async function removePodRoutes(namespace: string, { podCidrs }: NodeNetwork): Promise<void> {
  for (const cidr of podCidrs) await run(['ip', '-n', namespace, 'route', 'del', cidr])
}
