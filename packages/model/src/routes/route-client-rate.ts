import { z } from 'zod'

/**
 * How many requests each client may make: a bucket of `burst` + 1 tokens, to which `requests` are added in each
 * `perSeconds`, evenly. A request takes one; without one it gets 429. A client is an IPv4 address, or an IPv6 /64.
 */
export const routeClientRate = z.strictObject({
  requests: z.number().int().min(1).max(1_000_000),
  perSeconds: z.number().int().min(1).max(86_400).default(1),
  /** How many more at once. */
  burst: z.number().int().min(0).max(1_000_000).default(0),
})
export type RouteClientRate = z.infer<typeof routeClientRate>
