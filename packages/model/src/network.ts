import { z } from 'zod'
import { cidrText, ipText, metaShape, timestamp, uuid } from './scalars.ts'

export const subnet = z.strictObject({
  ...metaShape,
  cidr: cidrText,
  /** The members' gateway. With return path `gateway` the LB nodes hold this address. */
  gatewayIp: ipText.nullable(),
  /** What the LB nodes may take their own addresses from; the last addresses of the subnet when null. */
  nodeRange: z.strictObject({ first: ipText, last: ipText }).nullable(),
  /**
   * Where its members are: on the segment (when absent), or, with return path `dsr`, behind routers, each reached through
   * a tunnel of its own. Nodes have no address in such a subnet.
   */
  reach: z.enum(['segment', 'tunnel']).optional(),
})
export type Subnet = z.infer<typeof subnet>

/** Where addresses behind a router of the segment are: `via` is that router, in a subnet on the segment. */
export const networkRoute = z.strictObject({ to: cidrText, via: ipText })
export type NetworkRoute = z.infer<typeof networkRoute>
export const MOST_NETWORK_ROUTES = 4096

/**
 * A tenant's network: on a node, a domain with its own namespace. Subnets of different projects may overlap.
 * `returnPath` says how members' replies come back, and with it whether established connections outlive a node:
 * `gateway` (members route through the LB nodes, client address kept), `snat` (members see a node's address), `dsr`
 * (members hold the VIPs themselves and answer clients directly: requests alone pass through a node).
 */
export const network = z.strictObject({
  ...metaShape,
  projectId: uuid,
  /** Small number made by us: names of namespaces, links and tables on nodes. Unique, never reused while in use. */
  number: z.number().int().min(1).max(16_000_000),
  subnets: z.array(subnet).max(32),
  returnPath: z.enum(['gateway', 'snat', 'dsr']),
  /** To members behind routers of the segment. They overlap neither each other nor a subnet. */
  routes: z.array(networkRoute).max(MOST_NETWORK_ROUTES).default([]),
  /** Where the segment is found on a node: `physicalNetwork` is looked up in the node's configuration. */
  segment: z.strictObject({
    physicalNetwork: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'is not a name like physnet1'),
    vlan: z.number().int().min(1).max(4094).nullable(),
  }),
})
export type Network = z.infer<typeof network>

/** Public addresses that load balancers may take; `projectIds` null is open to every project. */
export const addressPool = z.strictObject({
  ...metaShape,
  ranges: z
    .array(z.strictObject({ first: ipText, last: ipText }))
    .min(1)
    .max(64),
  /** The subnet the ranges lie in as clients see it (the Neutron facade shows it). */
  cidr: cidrText,
  gatewayIp: ipText.nullable(),
  projectIds: z.array(uuid).nullable(),
  /** How long a released address rests before it is given to another project. */
  quarantineSeconds: z.number().int().min(0).max(86_400),
  /** It gives no new addresses; those that were taken from it stay. */
  draining: z.boolean().default(false),
})
export type AddressPool = z.infer<typeof addressPool>

/**
 * One address in use or resting. `id` is derived from what it lies in and its text (`addressKey`), so that two writers
 * of the same address collide in the store.
 */
export const address = z.strictObject({
  ...metaShape,
  id: z.string().max(128),
  /** The id by which clients know it: a port or floating IP in the Neutron facade. */
  portId: uuid,
  address: ipText,
  scope: z.enum(['fabric', 'tenant']),
  /** AddressPool id for scope `fabric`, Network id for scope `tenant`. */
  holderId: uuid,
  subnetId: uuid.nullable(),
  /** Null for an address that belongs to the system (nodes, gateways). */
  projectId: uuid.nullable(),
  use: z.enum(['vip', 'floating', 'port', 'node', 'gateway']),
  /** The load balancer, floating-IP target or node that uses it; null for a port or floating IP not bound yet. */
  ownerId: uuid.nullable(),
  /** Set when released: until then nobody but the same project gets it again. */
  quarantineUntil: timestamp.nullable(),
})
export type Address = z.infer<typeof address>

/** The store id of an address: one per holder and address. */
export const addressKey = (holderId: string, ip: string): string => `${holderId}/${ip}`
