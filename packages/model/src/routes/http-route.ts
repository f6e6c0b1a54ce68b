import { z } from 'zod'
import { metaShape, port, tags, uuid } from '../scalars/scalars.ts'
import { basicAuthentication } from './basic-authentication.ts'
import { routeAuthorizer } from './route-authorizer.ts'
import { routeClientRate } from './route-client-rate.ts'
import { hostText, pathAndQueryText, pathText, routeCondition } from './route-condition.ts'
import { routeFilters, shareFilters } from './route-filter.ts'
import { routeMirrors } from './route-mirror.ts'
import { routeRetry } from './route-retry.ts'
import { routeTimeouts } from './route-timeouts.ts'
import { REDIRECT_CODES, RESPONSE_CODES } from './route-words.ts'

/** Limit of routes per listener. */
export const MOST_ROUTES = 10_000

/** Limit of one client's requests in flight. What counts as a client is defined at `routeClientRate`. */
export const clientConcurrency = z.number().int().min(1).max(1_000_000)

/** Limit of a request's body, at most 1 TiB, because nodes keep it in a text of bounded length. */
export const maxBodyBytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)

/**
 * Whether all of a route's authentication methods must admit a request, or any. The words are those of nginx and
 * Apache.
 */
const SATISFY = ['all', 'any'] as const

const codeOf = (codes: readonly number[]) =>
  z.literal([...codes], { error: `must be one of ${codes.join(', ')}` }) as z.ZodType<number>

/** A pool, and its share of the requests relative to the others. */
export const poolShare = z.strictObject({
  poolId: uuid,
  weight: z.number().int().min(0).max(1_000_000).default(1),
  /** Filters for this pool's share only, applied after those of the action. Absent: none. */
  filters: shareFilters.optional(),
})

/** A share of the requests that the proxy answers itself. */
const answeredShare = z.strictObject({
  code: codeOf(RESPONSE_CODES),
  weight: z.number().int().min(1).max(1_000_000),
})

const forwardFields = z.strictObject({
  type: z.literal('forward'),
  pools: z
    .array(poolShare)
    .min(1)
    .max(16)
    .refine((pools) => pools.some(({ weight }) => weight > 0), { message: 'must have a weight above 0' })
    .refine((pools) => new Set(pools.map(({ poolId }) => poolId)).size === pools.length, {
      message: 'names a pool twice',
    }),
  /** The share that is answered with a code, relative to the weights of the pools. Absent: none. */
  answered: answeredShare.optional(),
  /** Absent in routes of an earlier version. */
  filters: routeFilters.optional(),
  /** Absent: those of the listener. */
  timeouts: routeTimeouts.optional(),
  /** Absent: a request that a member received is not retried. */
  retry: routeRetry.optional(),
  /** Absent: clients may send any number of requests. */
  clientRate: routeClientRate.optional(),
  /** Requests that each client may have in flight. Further ones get 503. Absent: any number. */
  clientConcurrency: clientConcurrency.optional(),
  /** Limit of a request's body in bytes. A longer one gets 413. Absent: any size. */
  maxBodyBytes: maxBodyBytes.optional(),
  /** A pool that decides whether a request is forwarded. Absent: all requests are. */
  authorizer: routeAuthorizer.optional(),
  /** Only requests of users on a list are forwarded. Absent: no password is required. */
  basicAuthentication: basicAuthentication.optional(),
  /**
   * Whether the password and the authorizer must both admit a request (`all`), or one of them (`any`). Absent: both.
   */
  satisfy: z.enum(SATISFY).optional(),
  /** Absent: requests are copied to no other pool. */
  mirrors: routeMirrors.optional(),
})

/** Forwards requests to pools. Those for a pool that cannot answer get 503. */
export const forwardAction = forwardFields.refine(
  ({ authorizer, basicAuthentication: users, satisfy }) =>
    satisfy === undefined || (authorizer !== undefined && users !== undefined),
  { path: ['satisfy'], message: 'needs authorizer and basicAuthentication beside it' },
)

/** The parts of `Location`. A part that is null is taken from the request; a null port is the scheme's default. */
export const redirectAction = z
  .strictObject({
    type: z.literal('redirect'),
    code: codeOf(REDIRECT_CODES),
    scheme: z.enum(['http', 'https']).nullable().default(null),
    host: hostText.nullable().default(null),
    port: port.nullable().default(null),
    /** Replaces path and query. */
    path: pathAndQueryText.nullable().default(null),
    /** Is put before the path and the query of the request. */
    pathPrefix: pathText.nullable().default(null),
    /**
     * Replaces the leading elements `from` of the path by `to`. Paths that do not begin with them stay, and so does the
     * query. Absent: nothing is replaced.
     */
    prefix: z.strictObject({ from: pathText, to: pathText }).optional(),
  })
  .refine(({ path, pathPrefix }) => path === null || pathPrefix === null, {
    path: ['pathPrefix'],
    message: 'and path exclude each other',
  })
  .refine(({ path, pathPrefix, prefix }) => prefix === undefined || (path === null && pathPrefix === null), {
    path: ['prefix'],
    message: 'excludes path and pathPrefix',
  })

/** An answer without a body. */
export const respondAction = z.strictObject({ type: z.literal('respond'), code: codeOf(RESPONSE_CODES) })

export const routeAction = z.discriminatedUnion('type', [forwardAction, redirectAction, respondAction], {
  error: 'must be one of forward, redirect, respond',
})
export type RouteAction = z.infer<typeof routeAction>
export type ForwardAction = z.infer<typeof forwardAction>
export type RedirectAction = z.infer<typeof redirectAction>
export type RespondAction = z.infer<typeof respondAction>

/** Limit of conditions per route. */
export const MOST_ROUTE_CONDITIONS = 100

/** The settings of a route: which requests it takes, and what happens to them. */
export const routeOptions = {
  enabled: z.boolean().default(true),
  /** All must hold. An empty list takes every request. */
  conditions: z.array(routeCondition).max(MOST_ROUTE_CONDITIONS).default([]),
  action: routeAction,
}

/** A listener's routes are tried in order. The first whose conditions all hold takes the request. */
export const httpRoute = z.strictObject({ ...metaShape, tags, ...routeOptions })
export type HttpRoute = z.infer<typeof httpRoute>

export const httpRoutes = z.array(httpRoute).max(MOST_ROUTES)
