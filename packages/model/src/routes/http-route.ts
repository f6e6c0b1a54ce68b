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

/** Routes of one listener. */
export const MOST_ROUTES = 10_000

/** A client is one as of `routeClientRate`. */
export const clientConcurrency = z.number().int().min(1).max(1_000_000)

/** Nodes pass it on in a text of a bounded length. A tebibyte at most. */
export const maxBodyBytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)

/** Of what a route asks, which must let a request in; the words of nginx and Apache. */
const SATISFY = ['all', 'any'] as const

const codeOf = (codes: readonly number[]) =>
  z.literal([...codes], { error: `must be one of ${codes.join(', ')}` }) as z.ZodType<number>

/** A pool, and its share of the requests relative to the others. */
export const poolShare = z.strictObject({
  poolId: uuid,
  weight: z.number().int().min(0).max(1_000_000).default(1),
  /** Filters for this pool's share alone, after those of the action. Absent: none. */
  filters: shareFilters.optional(),
})

/** A share of the requests that no pool gets. */
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
  /** The share that is answered with a code instead, relative to the weights of the pools. Absent: none. */
  answered: answeredShare.optional(),
  /** Absent in routes of an earlier version. */
  filters: routeFilters.optional(),
  /** Absent: those of the listener. */
  timeouts: routeTimeouts.optional(),
  /** Absent: no request that a member got is tried again. */
  retry: routeRetry.optional(),
  /** Absent: clients may ask as often as they like. */
  clientRate: routeClientRate.optional(),
  /** Requests that each client may have in flight; another one gets 503. Absent: any number. */
  clientConcurrency: clientConcurrency.optional(),
  /** Bytes of a request's body; a longer one gets 413. Absent: any number. */
  maxBodyBytes: maxBodyBytes.optional(),
  /** Decides whether a request may go on. Absent: all may. */
  authorizer: routeAuthorizer.optional(),
  /** Only users of a list may go on. Absent: nobody is asked for a password. */
  basicAuthentication: basicAuthentication.optional(),
  /** Whether the password and the authorizer must both let a request in, or one of them. Absent: both. */
  satisfy: z.enum(SATISFY).optional(),
  /** Absent: requests are copied to no other pool. */
  mirrors: routeMirrors.optional(),
})

/** A request to a pool that cannot answer gets 503. */
export const forwardAction = forwardFields.refine(
  ({ authorizer, basicAuthentication: users, satisfy }) =>
    satisfy === undefined || (authorizer !== undefined && users !== undefined),
  { path: ['satisfy'], message: 'needs authorizer and basicAuthentication beside it' },
)

/** The parts of `Location`. What is null is as in the request; a null port is the scheme's own. */
export const redirectAction = z
  .strictObject({
    type: z.literal('redirect'),
    code: codeOf(REDIRECT_CODES),
    scheme: z.enum(['http', 'https']).nullable().default(null),
    host: hostText.nullable().default(null),
    port: port.nullable().default(null),
    /** Replaces path and query. */
    path: pathAndQueryText.nullable().default(null),
    /** Stands before the path and the query of the request. */
    pathPrefix: pathText.nullable().default(null),
    /**
     * The elements that the path begins with, and what replaces them; other paths stay, and the query does. Absent:
     * none.
     */
    prefix: z.strictObject({ from: pathText, to: pathText }).optional(),
  })
  .refine(({ path, pathPrefix }) => path === null || pathPrefix === null, {
    path: ['pathPrefix'],
    message: 'and path exclude each other',
  })
  .refine(({ path, pathPrefix, prefix }) => prefix === undefined || (path === null && pathPrefix === null), {
    path: ['prefix'],
    message: 'stands beside path or pathPrefix',
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

/** Conditions of one route. */
export const MOST_ROUTE_CONDITIONS = 100

/** The settings of a route besides its name: which requests it takes, and what happens to them. */
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
