import { z } from 'zod'

/** HAProxy counts milliseconds in 31 bits; a day is more than any client waits. */
const MOST_MS = 86_400_000
const timeoutMs = z.number().int().min(0).max(MOST_MS).nullable().default(null)

/**
 * How long the requests of a route may take, in milliseconds, as in Gateway API (GEP-1742). Who waits longer gets 504. 0 is
 * no limit, also none of the listener; null leaves the listener's `memberMs`.
 */
export const routeTimeouts = z
  .strictObject({
    /** From the request until the response begins, connecting and all attempts included. */
    requestMs: timeoutMs,
    /** From when a member has the request until its response begins. */
    backendRequestMs: timeoutMs,
  })
  .refine(({ requestMs, backendRequestMs }) => requestMs !== null || backendRequestMs !== null, {
    message: 'must name requestMs or backendRequestMs',
  })
  .refine(({ requestMs, backendRequestMs }) => !requestMs || (backendRequestMs ?? 0) <= requestMs, {
    path: ['backendRequestMs'],
    message: 'is longer than requestMs, which ends all attempts',
  })
export type RouteTimeouts = z.infer<typeof routeTimeouts>
