import { z } from 'zod'
import { MOST_RETRIES } from './route-words.ts'

/**
 * How requests of a route are retried, as in Gateway API (GEP-1731). Only requests of idempotent methods are (RFC 9110
 * section 9.2.2). A request is retried if the member's response is missing, broken or too late, or has one of `codes`.
 */
export const routeRetry = z.strictObject({
  /** Attempts after the first, at most. */
  attempts: z.number().int().min(1).max(MOST_RETRIES),
  /**
   * Status codes after which a request is retried. Their number is limited because nodes keep them in a text of bounded
   * length.
   */
  codes: z
    .array(z.number().int().min(400).max(599))
    .max(16)
    .refine((codes) => new Set(codes).size === codes.length, { message: 'names a code twice' })
    .default([]),
  /** How long to wait before each further attempt, in milliseconds. */
  backoffMs: z.number().int().min(0).max(60_000).default(0),
})
export type RouteRetry = z.infer<typeof routeRetry>
