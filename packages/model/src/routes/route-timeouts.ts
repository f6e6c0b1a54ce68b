import { z } from 'zod'

/** HAProxy counts milliseconds in 31 bits; a day is more than any client waits. */
const MOST_MS = 86_400_000
const timeoutMs = z.number().int().min(0).max(MOST_MS).nullable().default(null)

/**
 * How long the requests of a route may take, in milliseconds, as in Gateway API (GEP-1742). After that the client gets
 * 504. 0: no limit, not even the listener's. Null: the listener's `memberMs`.
 */
export const routeTimeouts = z
  .strictObject({
    /** From the client's request to the beginning of the response, with connecting and all attempts. */
    requestMs: timeoutMs,
    /** From when a member has received the request to the beginning of its response. */
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
