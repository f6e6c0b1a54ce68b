import { z } from 'zod'
import { HTTP_METHODS } from './health-monitor.ts'
import { MOST_WILDCARD_LABELS, REDIRECT_CODES, RESPONSE_CODES } from './route-words.ts'
import { metaShape, port, tags, uuid } from './scalars.ts'

/** Routes of one listener. */
export const MOST_ROUTES = 10_000

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const hostText = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(HOST, 'is not a host name: labels of letters, digits, - and _, between dots')

/** A path as RFC 3986 section 3.3 has it, not decoded. */
const PATH_CHARACTERS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
const pathText = z
  .string()
  .max(1024)
  .regex(
    new RegExp(`^/${PATH_CHARACTERS}$`),
    'must begin with / and hold only what RFC 3986 allows in a path; encode others as %XX',
  )
/** A path, and a query if it has one. */
const pathAndQueryText = z
  .string()
  .max(1024)
  .regex(
    new RegExp(`^/${PATH_CHARACTERS}(?:\\?(?:${PATH_CHARACTERS}|\\?)*)?$`),
    'must begin with / and hold only what RFC 3986 allows in a path and a query; encode others as %XX',
  )

const valuesOf = <T extends z.ZodType>(value: T) => z.array(value).min(1).max(64)
/** Inverted: the condition holds when none of the values fits. */
const not = z.boolean().default(false)

const hostValues = valuesOf(hostText)
const wildcardValues = valuesOf(
  hostText.refine((name) => name.split('.').length <= MOST_WILDCARD_LABELS, {
    message: `must have at most ${MOST_WILDCARD_LABELS} labels, since its subdomains are looked up label by label`,
  }),
)

/** The `Host` of the request, without port and last dot, in lower case. */
const hostCondition = z.discriminatedUnion(
  'compare',
  [
    z.strictObject({ on: z.literal('host'), compare: z.literal('exact'), values: hostValues, not }),
    /** For `example.com`: `a.example.com`, but neither `example.com` nor `b.a.example.com`. */
    z.strictObject({ on: z.literal('host'), compare: z.literal('one-label'), values: wildcardValues, not }),
    /** For `example.com`: `a.example.com` and `b.a.example.com`, but not `example.com`. */
    z.strictObject({ on: z.literal('host'), compare: z.literal('any-labels'), values: wildcardValues, not }),
  ],
  { error: 'must be one of exact, one-label, any-labels' },
)

const pathCondition = z.strictObject({
  on: z.literal('path'),
  /** `elements`: for `/a` also `/a/` and `/a/b`, but not `/ab`. `prefix`: characters, so `/ab` too. */
  compare: z.enum(['exact', 'elements', 'prefix']),
  /** Compared byte by byte with the path as it was sent, without the query. */
  values: valuesOf(pathText),
  not,
})

const methodCondition = z.strictObject({ on: z.literal('method'), values: valuesOf(z.enum(HTTP_METHODS)), not })

/** A condition holds when one of its values fits. */
export const routeCondition = z.discriminatedUnion('on', [hostCondition, pathCondition, methodCondition], {
  error: 'must be one of host, path, method',
})
export type RouteCondition = z.infer<typeof routeCondition>

const codeOf = (codes: readonly number[]) =>
  z.literal([...codes], { error: `must be one of ${codes.join(', ')}` }) as z.ZodType<number>

/** A pool, and its share of the requests relative to the others. */
export const poolShare = z.strictObject({ poolId: uuid, weight: z.number().int().min(0).max(1_000_000).default(1) })

/** A request to a pool that cannot answer gets 503. */
export const forwardAction = z.strictObject({
  type: z.literal('forward'),
  pools: z
    .array(poolShare)
    .min(1)
    .max(16)
    .refine((pools) => pools.some(({ weight }) => weight > 0), { message: 'must have a weight above 0' })
    .refine((pools) => new Set(pools.map(({ poolId }) => poolId)).size === pools.length, {
      message: 'names a pool twice',
    }),
})

/** The parts of `Location`. What is null is as in the request; a null port is the scheme's own. */
export const redirectAction = z.strictObject({
  type: z.literal('redirect'),
  code: codeOf(REDIRECT_CODES),
  scheme: z.enum(['http', 'https']).nullable().default(null),
  host: hostText.nullable().default(null),
  port: port.nullable().default(null),
  /** Replaces path and query. */
  path: pathAndQueryText.nullable().default(null),
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

/** What a route says besides its name: when it takes a request, and what happens to it. */
export const routeOptions = {
  enabled: z.boolean().default(true),
  /** All must hold. None: takes every request. */
  conditions: z.array(routeCondition).max(16).default([]),
  action: routeAction,
}

/** A listener's routes are tried in order. The first whose conditions all hold takes the request. */
export const httpRoute = z.strictObject({ ...metaShape, tags, ...routeOptions })
export type HttpRoute = z.infer<typeof httpRoute>

export const httpRoutes = z.array(httpRoute).max(MOST_ROUTES)
