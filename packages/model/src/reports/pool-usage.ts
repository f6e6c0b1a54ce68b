import { z } from 'zod'
import { ipText, timestamp, uuid } from '../scalars/scalars.ts'

/**
 * Part of an address pool. `taken` and `resting` are one address each; `excluded` are never given out, such as the
 * gateway.
 */
export const poolUsagePart = z.strictObject({
  first: ipText,
  last: ipText,
  state: z.enum(['free', 'taken', 'resting', 'excluded']),
  /** Who has it, or had it last; null where nobody has. */
  by: z
    .strictObject({
      use: z.enum(['vip', 'floating', 'port', 'node', 'gateway']),
      projectId: uuid.nullable(),
      projectName: z.string().nullable(),
      /** The load balancer that uses it; null where none does. */
      loadBalancerId: uuid.nullable(),
      loadBalancerName: z.string().nullable(),
    })
    .nullable(),
  /** Until then only the last project may get it again; null unless it rests. */
  restsUntil: timestamp.nullable(),
})
export type PoolUsagePart = z.infer<typeof poolUsagePart>

/** An address pool as a map. Tenants get the addresses that they use, and no count of the others. */
export const poolUsage = z.strictObject({
  /** Addresses that can be given out, and those that anybody may get now. Null for tenants. */
  total: z.number().nullable(),
  free: z.number().nullable(),
  taken: z.number().int(),
  resting: z.number().int(),
  parts: z.array(poolUsagePart),
})
export type PoolUsage = z.infer<typeof poolUsage>
