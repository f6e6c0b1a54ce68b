import type { NodeReport } from '@spout/model'
import { z } from 'zod'

const id = z.string().max(128)
const words = z.string().max(4096)
const count = z.number().min(0).finite()

/** What a node may say. A node is trusted with its own load balancers alone, so sizes are bounded here as elsewhere. */
export const nodeReport: z.ZodType<NodeReport> = z.object({
  session: z.string().min(1).max(128),
  sequence: z.number().int().min(1),
  entries: z.array(
    z.object({
      key: id,
      hash: z.string().max(64),
      state: z.enum(['programmed', 'failed']),
      reason: words.nullable(),
      message: words.nullable(),
      announced: z.array(z.string().max(64)).max(64),
    }),
  ),
  removed: z.array(id),
  members: z.array(
    z.object({
      loadBalancerId: id,
      poolId: id,
      memberId: id,
      health: z.enum(['up', 'down', 'unknown']),
      reason: words.nullable(),
      since: z.string().max(64),
    }),
  ),
  stats: z.array(
    z.object({
      loadBalancerId: id,
      listenerId: id,
      bytesIn: count,
      bytesOut: count,
      activeConnections: count,
      totalConnections: count,
      requestErrors: count,
    }),
  ),
  inSync: z.boolean(),
  features: z.array(z.string().max(128)).max(256),
})
