import { z } from 'zod'
import { MOST_RETRIES } from './route-words.ts'

/**
 * How often requests of a route are tried again, as in Gateway API (GEP-1731). It concerns requests of idempotent methods
 * (RFC 9110, 9.2.2) alone. A member that gave no response, a broken one, or none in time is always a reason.
 */
export const routeRetry = z.strictObject({
  /** Attempts after the first, at most. */
  attempts: z.number().int().min(1).max(MOST_RETRIES),
  /** Responses that are a reason, too. Nodes pass them on in a text of a bounded length. */
  codes: z
    .array(z.number().int().min(400).max(599))
    .max(16)
    .refine((codes) => new Set(codes).size === codes.length, { message: 'names a code twice' })
    .default([]),
  /** How long to wait before each of them, in milliseconds. */
  backoffMs: z.number().int().min(0).max(60_000).default(0),
})
export type RouteRetry = z.infer<typeof routeRetry>
