import { z } from 'zod'
import { listener } from './listener.ts'
import { pool } from './pool.ts'
import { ipText, metaShape, tags, uuid } from './scalars.ts'

/** One document as JSON: 40,000 members and more. */
export const MOST_LOAD_BALANCER_BYTES = 32 * 1024 * 1024

/** The Octavia API keeps up to three words of each listener and monitor. */
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

/** One address of a load balancer. The Address object of that id owns it; the text is repeated for readers. */
export const vip = z.strictObject({
  addressId: uuid,
  address: ipText,
  /** `fabric`: an address of a pool, announced to the outside. `tenant`: an address of the tenant's own network. */
  scope: z.enum(['fabric', 'tenant']),
  /** What it was taken from: an AddressPool's id for scope `fabric`, else null. */
  poolId: uuid.nullable(),
  /** The tenant network's id for scope `tenant`, else null. */
  networkId: uuid.nullable(),
  subnetId: uuid.nullable(),
})
export type Vip = z.infer<typeof vip>

/**
 * A load balancer is one document: a change of any part is one compare-and-swap, so there is no half state and no lock.
 * Ids of listeners, pools, members and monitors are unique over all load balancers.
 */
export const loadBalancer = z.strictObject({
  ...metaShape,
  projectId: uuid,
  tags,
  enabled: z.boolean(),
  /** Counts changes that can matter to a node or its user; reports name the generation they confirm. */
  generation: z.number().int().min(1),
  /** The tenant network that holds the members: the domain on the nodes. Null while there is none to tell it by. */
  networkId: uuid.nullable(),
  /** First the primary one, then additional and floating ones. */
  vips: z.array(vip).min(1).max(16),
  listeners: z.array(listener).max(1000),
  pools: z.array(pool).max(1000),
  /** Node group that carries it; null is the default group. */
  nodeGroupId: uuid.nullable(),
  /** Words that only one way in understands, keyed by its name; never read by the planner or a node. */
  annotations,
})
export type LoadBalancer = z.infer<typeof loadBalancer>
