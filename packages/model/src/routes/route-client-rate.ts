import { z } from 'zod'

/**
 * How many requests each client may make: a token bucket of `burst` + 1 tokens, to which `requests` tokens are added
 * evenly in each `perSeconds`. A request takes one. If there is none, it gets 429. A client is an IPv4 address, or an
 * IPv6 /64.
 */
export const routeClientRate = z.strictObject({
  requests: z.number().int().min(1).max(1_000_000),
  perSeconds: z.number().int().min(1).max(86_400).default(1),
  /** How many requests beyond the rate a client may make at once. */
  burst: z.number().int().min(0).max(1_000_000).default(0),
})
export type RouteClientRate = z.infer<typeof routeClientRate>
