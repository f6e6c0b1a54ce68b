import { z } from 'zod'
import { MOST_SECURITY_GROUPS } from '../networks/security-group.ts'
import { LOCAL_NAME } from '../reports/local-report.ts'
import { dnsNames, dnsTtlSeconds } from '../scalars/dns-name.ts'
import { ipText, metaShape, tags, uuid } from '../scalars/scalars.ts'
import { listener } from './listener.ts'
import { pool } from './pool.ts'

/** Limit of one load balancer's JSON: enough for 40,000 members. */
export const MOST_LOAD_BALANCER_BYTES = 32 * 1024 * 1024

/** Enough for the three annotations that the Octavia API keeps for each listener and monitor. */
const MOST_ANNOTATIONS = 8192
const MOST_ANNOTATIONS_CHARACTERS = 1_048_576

const annotations = z.record(z.string().max(64), z.string().max(4096)).superRefine((all, context) => {
  const entries = Object.entries(all)
  if (entries.length > MOST_ANNOTATIONS)
    context.addIssue({ code: 'custom', message: `must have at most ${MOST_ANNOTATIONS} entries` })
  const characters = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  if (characters > MOST_ANNOTATIONS_CHARACTERS)
    context.addIssue({
      code: 'custom',
      message: `must have at most ${MOST_ANNOTATIONS_CHARACTERS} characters in all, names and values`,
    })
})

/** One address of a load balancer. The Address object with this id owns it; the text is copied here for readers. */
export const vip = z.strictObject({
  addressId: uuid,
  address: ipText,
  /** `fabric`: from an address pool, announced to the outside. `tenant`: from the tenant's own network. */
  scope: z.enum(['fabric', 'tenant']),
  /** The AddressPool that it comes from; null for scope `tenant`. */
  poolId: uuid.nullable(),
  /** The tenant network; null for scope `fabric`. */
  networkId: uuid.nullable(),
  subnetId: uuid.nullable(),
})
export type Vip = z.infer<typeof vip>

/**
 * A load balancer is one document. A change of any part is one compare-and-swap, so there is no half state and no lock.
 * Ids of listeners, pools, members and monitors are unique over all load balancers.
 */
export const loadBalancer = z.strictObject({
  ...metaShape,
  projectId: uuid,
  tags,
  enabled: z.boolean(),
  /** Counts the changes that nodes or users must see. A node's report names the generation that it confirms. */
  generation: z.number().int().min(1),
  /** The tenant network of the members: a domain on the nodes. Null while neither a member nor a VIP determines it. */
  networkId: uuid.nullable(),
  /** The primary VIP first, then additional and floating ones. */
  vips: z.array(vip).min(1).max(16),
  listeners: z.array(listener).max(1000),
  pools: z.array(pool).max(1000),
  /** The node group that carries it; null is the default group. */
  nodeGroupId: uuid.nullable(),
  /** The `LoadBalancerClass` and the `AvailabilityZone` that it was created with. Absent: none. */
  classId: uuid.optional(),
  zoneId: uuid.optional(),
  /** The groups whose rules admit clients to its listeners. Absent or empty: `Listener.allowedCidrs` alone decides. */
  securityGroupIds: z
    .array(uuid)
    .max(MOST_SECURITY_GROUPS)
    .refine((ids) => new Set(ids).size === ids.length, { message: 'names a group twice' })
    .optional(),
  /** DNS names that are published with its public addresses. Absent or empty: none. */
  dnsNames: dnsNames.optional(),
  /**
   * How long resolvers may cache these names, in seconds. Absent or null: the time in the control plane's
   * configuration.
   */
  dnsTtlSeconds: dnsTtlSeconds.nullable().optional(),
  /** The node that an operator last moved it away from. It stays away while another node can carry it. */
  leftNodeId: uuid.optional(),
  /**
   * Its name in the settings of the group's nodes, which carry it by themselves (`local.loadBalancers`). Only their settings
   * change it. Absent: it is the control plane's.
   */
  localName: z.string().regex(LOCAL_NAME).optional(),
  /** Texts that only one intent understands; its name begins the key. Planner and nodes ignore them. */
  annotations,
})
export type LoadBalancer = z.infer<typeof loadBalancer>
