import { z } from 'zod'
import { cidrText, ipText, metaShape, nodeName, timestamp, uuid } from '../scalars/scalars.ts'

export const subnet = z.strictObject({
  ...metaShape,
  cidr: cidrText,
  /** The members' gateway. With return path `gateway` the load-balancer nodes have this address. */
  gatewayIp: ipText.nullable(),
  /** Range of the load-balancer nodes' own addresses. Null: the last addresses of the subnet. */
  nodeRange: z.strictObject({ first: ipText, last: ipText }).nullable(),
  /**
   * Where the subnet's members are. `segment`, the default: on the network's segment. `tunnel`, with return path `dsr`:
   * behind routers, where each is reached through a tunnel of its own; nodes have no address in such a subnet.
   */
  reach: z.enum(['segment', 'tunnel']).optional(),
})
export type Subnet = z.infer<typeof subnet>

/** A route to addresses behind a router of the segment. `via` is the router, in a subnet on the segment. */
export const networkRoute = z.strictObject({
  to: cidrText,
  via: ipText,
  /**
   * With return path `node`: the name of the node that hosts these addresses. Members there cannot be reached before a
   * node of that name carries the network. Absent with the others.
   */
  node: nodeName.optional(),
})
export type NetworkRoute = z.infer<typeof networkRoute>
export const MOST_NETWORK_ROUTES = 4096

/**
 * A tenant's network. On a node it is a domain. Subnets of different projects may overlap. `returnPath` says how
 * members' replies reach clients, and so whether established connections outlive a node. `gateway`: members route
 * through the load-balancer nodes and see the client's address. `snat`: members see a node's address. `dsr`: members
 * have the VIPs themselves and answer clients directly, so that only requests pass a node. `node`: members are on the
 * nodes themselves, each node balances to its own, and members see the client's address.
 */
export const network = z.strictObject({
  ...metaShape,
  projectId: uuid,
  /**
   * A small number that we assign, for names of namespaces, links and tables on nodes. Unique among existing networks.
   */
  number: z.number().int().min(1).max(16_000_000),
  subnets: z.array(subnet).max(32),
  returnPath: z.enum(['gateway', 'snat', 'dsr', 'node']),
  /** Routes to members behind routers of the segment. They overlap neither each other nor a subnet. */
  routes: z.array(networkRoute).max(MOST_NETWORK_ROUTES).default([]),
  /** The network's segment on a node. The node's configuration maps `physicalNetwork` to an interface. */
  segment: z.strictObject({
    physicalNetwork: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'is not a name like physnet1'),
    vlan: z.number().int().min(1).max(4094).nullable(),
  }),
})
export type Network = z.infer<typeof network>

/** Public addresses for load balancers. `projectIds` null: every project may use the pool. */
export const addressPool = z.strictObject({
  ...metaShape,
  ranges: z
    .array(z.strictObject({ first: ipText, last: ipText }))
    .min(1)
    .max(64),
  /** The subnet around the ranges, as clients see it (the Neutron facade shows it). */
  cidr: cidrText,
  gatewayIp: ipText.nullable(),
  projectIds: z.array(uuid).nullable(),
  /** Quarantine: how long other projects cannot get a released address. */
  quarantineSeconds: z.number().int().min(0).max(86_400),
  /** A draining pool gives out no new addresses. Addresses in use stay. */
  draining: z.boolean().default(false),
})
export type AddressPool = z.infer<typeof addressPool>

/** Neutron's limits. A filter separates tags by commas, so a tag that contains one could not be found. */
export const addressTags = z
  .array(
    z
      .string()
      .min(1)
      .max(60)
      .regex(/^[^,]+$/, 'contains a comma'),
  )
  .max(50)

/**
 * One address in use or in quarantine. `id` is derived from `holderId` and the address (`addressKey`), so that two
 * writers of the same address collide in the store.
 */
export const address = z.strictObject({
  ...metaShape,
  id: z.string().max(128),
  tags: addressTags.default([]),
  /** The id that clients use: a port or floating IP in the Neutron facade. */
  portId: uuid,
  address: ipText,
  scope: z.enum(['fabric', 'tenant']),
  /** The AddressPool for scope `fabric`, the Network for scope `tenant`. */
  holderId: uuid,
  subnetId: uuid.nullable(),
  /** Null for an address of Spout itself (nodes, gateways). */
  projectId: uuid.nullable(),
  use: z.enum(['vip', 'floating', 'port', 'node', 'gateway']),
  /** The load balancer, floating-IP target or node that uses it; null for an unbound port or floating IP. */
  ownerId: uuid.nullable(),
  /** Set on release. Until then only the same project can get the address again. */
  quarantineUntil: timestamp.nullable(),
})
export type Address = z.infer<typeof address>

/** The store id of an address, from its pool or network and its text. */
export const addressKey = (holderId: string, ip: string): string => `${holderId}/${ip}`
