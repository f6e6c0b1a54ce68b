import {
  basicAuthentication,
  clientConcurrency,
  forwardAction,
  MOST_MIRRORS,
  maxBodyBytes,
  poolShare,
  redirectAction,
  routeClientRate,
  routeMirror,
} from '@spout/model'
import { MOST_RETRIES, REDIRECT_CODES, RESPONSE_CODES } from '@spout/model/route-words'
import { z } from 'zod'
import { apiName } from './words.ts'

/**
 * Routes as in the native API, but with pools by name. The schema cannot express which fields go with which: the
 * control plane checks that, and says what is wrong in the object's conditions.
 */

const condition = z.strictObject({
  /** The native API's `on`, which YAML 1.1 reads as true. */
  type: z.enum(['host', 'path', 'method', 'header', 'cookie', 'query', 'source', 'client-certificate', 'client-name']),
  compare: z
    .enum(['exact', 'one-label', 'any-labels', 'elements', 'prefix', 'ends-with', 'contains', 'regex'])
    .optional(),
  name: z.string().max(64).optional().describe('The name of the header, cookie or query parameter.'),
  values: z.array(z.string().max(1024)).min(1).max(64).describe('One matching value is enough.'),
  not: z.boolean().default(false),
})

const milliseconds = z.int().min(0).max(86_400_000).nullable().default(null)

const header = z.strictObject({ name: z.string().max(64), value: z.string().max(1024) })
const headers = z.array(header).max(16).optional()
const texts = z.array(z.string().max(253)).max(64).optional()

/** Without defaults: the server would fill in those of the other types. */
const filter = z.strictObject({
  type: z.enum(['request-headers', 'response-headers', 'rewrite', 'cors']),
  set: headers,
  add: headers,
  remove: texts,
  host: z.string().max(253).optional(),
  path: z.string().max(1024).optional(),
  prefix: z.strictObject({ from: z.string().max(1024), to: z.string().max(1024) }).optional(),
  origins: texts,
  methods: texts,
  headers: texts,
  exposeHeaders: texts,
  credentials: z.boolean().optional(),
  maxAgeSeconds: z.int().min(0).max(86_400).optional(),
})

const signIn = z.strictObject({
  scheme: z.enum(['http', 'https']).optional(),
  host: z.string().max(253).optional(),
  port: z.int().min(1).max(65_535).optional(),
  path: z.string().max(1024),
  returnTo: z.strictObject({ parameter: z.string().max(64), as: z.enum(['url', 'path']).default('url') }).optional(),
})

const authorizer = z.strictObject({
  pool: apiName,
  method: z.string().max(16).optional(),
  host: z.string().max(253).optional(),
  path: z.string().max(1024).optional(),
  pathPrefix: z.string().max(1024).optional(),
  sendHeaders: texts,
  setHeaders: headers,
  takeHeaders: texts,
  cookies: z.enum(['never', 'successes', 'always']).optional(),
  signIn: signIn.optional(),
})
const filters = z.array(filter).max(4)

const action = z.strictObject({
  type: z.enum(['forward', 'redirect', 'respond']),
  pools: z
    .array(z.strictObject({ pool: apiName, weight: poolShare.shape.weight, filters: filters.optional() }))
    .max(16)
    .optional(),
  answered: forwardAction.shape.answered.describe('The share of requests that is answered with a code instead.'),
  filters: filters.optional().describe('At most one of each type.'),
  timeouts: z.strictObject({ requestMs: milliseconds, backendRequestMs: milliseconds }).optional(),
  retry: z
    .strictObject({
      attempts: z.int().min(1).max(MOST_RETRIES),
      codes: z.array(z.int().min(400).max(599)).max(16).default([]),
      backoffMs: z.int().min(0).max(60_000).default(0),
    })
    .optional(),
  authorizer: authorizer.optional().describe('Asked whether a request is allowed. Any answer but 2xx denies it.'),
  basicAuthentication: basicAuthentication
    .optional()
    .describe('Requests need the password of a listed user; others get 401.'),
  satisfy: forwardAction.shape.satisfy.describe(
    'Whether authorizer and password must both allow a request (all, the default), or one of them (any).',
  ),
  clientRate: routeClientRate.optional().describe('Clients that send more requests get 429.'),
  clientConcurrency: clientConcurrency.optional().describe('How many requests of one client may be under way at once.'),
  maxBodyBytes: maxBodyBytes.optional().describe('Requests with a longer body get 413.'),
  mirrors: z
    .array(z.strictObject({ pool: apiName, percent: routeMirror.shape.percent }))
    .max(MOST_MIRRORS)
    .optional(),
  code: z
    .int()
    .min(200)
    .max(599)
    .optional()
    .describe(`For a redirect ${REDIRECT_CODES.join(', ')}; for a response ${RESPONSE_CODES.join(', ')}.`),
  scheme: z.enum(['http', 'https']).optional(),
  host: z.string().max(253).optional(),
  port: z.int().min(1).max(65_535).optional(),
  path: z.string().max(1024).optional(),
  pathPrefix: z.string().max(1024).optional(),
  prefix: redirectAction.shape.prefix.describe('The leading elements of the path, and their replacement.'),
})

export const loadBalancerRoute = z.strictObject({
  name: apiName.describe('Unique in the listener.'),
  enabled: z.boolean().default(true),
  conditions: z.array(condition).max(100).default([]).describe('All must match.'),
  action,
})
