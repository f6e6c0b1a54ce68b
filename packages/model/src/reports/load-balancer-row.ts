import { z } from 'zod'
import { ipText, timestamp, uuid } from '../scalars/scalars.ts'
import { CLUSTER_KINDS } from './cluster-objects.ts'

/**
 * How a load balancer is, in one word. `off`: it is disabled. `pending`: no node has confirmed its newest generation, or
 * no listener is enabled. `failed`: it cannot be programmed, or a listener has no member that answers. `degraded`: it
 * serves, but not as it should.
 */
export const loadBalancerHealth = z.enum(['ok', 'degraded', 'failed', 'pending', 'off'])
export type LoadBalancerHealth = z.infer<typeof loadBalancerHealth>

/** What made a load balancer, as its annotations say. */
export const loadBalancerOwner = z.strictObject({
  kind: z.enum([...CLUSTER_KINDS, 'octavia']),
  /** `namespace/name` of the object in the tenant's cluster, the first of several; null where there is none. */
  name: z.string().nullable(),
  /** The id of that cluster; null where there is none. */
  cluster: z.string().nullable(),
})
export type LoadBalancerOwner = z.infer<typeof loadBalancerOwner>

/** One row of a table of load balancers. Its size does not depend on how many members the load balancer has. */
export const loadBalancerRow = z.strictObject({
  id: uuid,
  projectId: uuid,
  projectName: z.string(),
  name: z.string(),
  health: loadBalancerHealth,
  /** Why it is not `ok`, for the object's user; null for `ok`. */
  reason: z.string().nullable(),
  /** The primary one first. */
  vips: z.array(ipText),
  listeners: z.number().int(),
  routes: z.number().int(),
  /** Members that may take traffic, and those of them that answer or are not checked. */
  members: z.strictObject({ total: z.number().int(), serving: z.number().int() }),
  /** Null: a program or person that used the native API. */
  owner: loadBalancerOwner.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp.nullable(),
  /** New connections, and bytes of both directions, over the last seconds; null while unknown. */
  connectionsPerSecond: z.number().nullable(),
  bytesPerSecond: z.number().nullable(),
})
export type LoadBalancerRow = z.infer<typeof loadBalancerRow>
