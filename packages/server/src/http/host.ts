import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ServerOptions as HttpsOptions } from 'node:https'
import type { Logger } from '@spout/runtime/logger'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyPluginAsync, fastify, LogController } from 'fastify'
import { type AuditOptions, auditRequests } from '../audit/audit-requests.ts'
import { clientAddress, type ProxyTrust } from './client-address.ts'
import type { JsonLimits } from './json-scanner.ts'
import { answerKnown, type FindKnown } from './known-answers.ts'
import { acceptProxyHeaders } from './proxy-protocol.ts'
import { acceptStrictJson } from './strict-json.ts'
import { wellFormedUrl } from './well-formed-url.ts'

export interface HostOptions {
  readonly log: Logger
  /** Limit of a body where the surface sets none. */
  readonly bodyLimitBytes?: number
  /** How long a client may take to send its whole request. Default: 30 s. */
  readonly requestTimeoutMs?: number
  /** How long requests under way get when the server closes. Then they are cut off. */
  readonly closeGraceMs?: number
  /** Proxies in front of us, and how they name the client. Without it the connection's other end is the client. */
  readonly proxies?: ProxyTrust
  /** Limits of what a body contains, those of the API by default. */
  readonly jsonLimits?: JsonLimits
  /** Where requests are audited. */
  readonly audit?: AuditOptions
  /** TLS settings; absent: plain HTTP. */
  readonly https?: HttpsOptions
  /** Finds answers whose text is at hand. They are sent without going through the routes. */
  readonly known?: FindKnown
  /** Called after each answered request. */
  readonly onAnswer?: (answer: Answer) => void
}

export interface Answer {
  readonly method: string
  /** The route's pattern, of which there is a limited number. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

/** An API on this server: an encapsulated plugin with its own paths, limits and error bodies. */
export interface Surface {
  readonly prefix: string
  readonly bodyLimitBytes: number
  readonly plugin: FastifyPluginAsync
  /** What needs no token: patterns below the prefix, for one method (`POST /tokens`) or for all (`/v3`). */
  readonly open?: readonly string[]
}

/** Whether a route needs no token. */
type IsOpen = (pattern: string, method: string) => boolean

/** Admits requests by their headers, before a body is read. */
export type Gate = (scope: FastifyInstance, isOpen: IsOpen) => void

/** The limit of oslo's sizelimit middleware. OpenStack's surfaces answer larger bodies with 413. */
export const OPENSTACK_BODY_LIMIT_BYTES = 114_688
export const NATIVE_BODY_LIMIT_BYTES = 1_048_576
/** Limit of the body that writes a load balancer, or a part of it: enough for 10,000 routes with filters. */
export const DOCUMENT_BODY_LIMIT_BYTES = 8_388_608

/** What large documents need: 20,000 members with all their fields, all annotations of a load balancer. */
export const API_JSON_LIMITS: JsonLimits = {
  nulInText: 'refused',
  mostTextBytes: 32_768,
  mostNames: 10_000,
  mostValues: 262_144,
}

/** For bodies that are larger than 4 MiB: as many values for each byte. */
export const DOCUMENT_JSON_LIMITS: JsonLimits = {
  ...API_JSON_LIMITS,
  mostValues: (API_JSON_LIMITS.mostValues * DOCUMENT_BODY_LIMIT_BYTES) / (4 * 1_048_576),
}

const MAX_HEADER_BYTES = 16_384
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
const LOOK_FOR_SLOW_MS = 2000
// Longer than the idle time-outs of common proxies, so that they close a connection first and never reuse one that we
// closed.
const KEEP_ALIVE_MS = 72_000

const newRequestId = (): string => `req-${randomUUID()}`

/** Surfaces validate with the model's schemas, so fastify need not load its own compilers, which take 3 MB. */
const noCompiler = (): never => {
  throw new Error('routes have no fastify schemas here')
}

/**
 * An HTTP server without routes: strict JSON, limits, request ids, security headers. Surfaces are mounted on it; it
 * knows none of them. Of a request it logs only the route, status and id.
 */
export function createServer(options: HostOptions): FastifyInstance {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS } = options
  const common = {
    loggerInstance: sharedByRequests(options.log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimitBytes ?? NATIVE_BODY_LIMIT_BYTES,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    genReqId: newRequestId,
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    // A parameter longer than any id is not the router's error: its surface answers that the object does not exist.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEADER_BYTES },
    rewriteUrl: (request: IncomingMessage) => wellFormedUrl(request.url ?? '/'),
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
  } as const
  const limits = {
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    maxHeaderSize: MAX_HEADER_BYTES,
    // How often Node checks time-outs. Its default is 30 s.
    connectionsCheckingInterval: Math.min(LOOK_FOR_SLOW_MS, requestTimeoutMs),
  }
  // The type parameter for the kind of server would spread to every surface, and none needs it.
  const app: FastifyInstance = options.https
    ? (fastify({ ...common, https: { ...options.https, ...limits } }) as unknown as FastifyInstance)
    : fastify({ ...common, http: limits })
  acceptStrictJson(app, options.jsonLimits ?? API_JSON_LIMITS)
  if (options.proxies !== undefined && options.proxies.trustedProxies.length > 0)
    trust(app, options.proxies, options.log)
  if (options.audit !== undefined) auditRequests(app, options.audit)
  app.addHook('preClose', async () => {
    setTimeout(() => app.server.closeAllConnections(), options.closeGraceMs ?? 5000).unref()
  })
  const securityHeaders = options.https ? [...SECURITY_HEADERS, ONLY_TLS] : SECURITY_HEADERS
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-openstack-request-id', request.id)
    for (const [name, value] of securityHeaders) if (!reply.hasHeader(name)) reply.header(name, value)
    done()
  })
  const answered = answeredOf(options)
  app.addHook('onResponse', (request, reply, done) => {
    answered(request.id, {
      method: request.method,
      route: request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
    })
    done()
  })
  if (options.known !== undefined) answerBeforeRoutes(app, options.known, securityHeaders, answered)
  return app
}

/** Counts and logs an answer. */
type Answered = (requestId: string, answer: Answer) => void

const answeredOf =
  ({ onAnswer, log }: HostOptions): Answered =>
  (requestId, answer) => {
    onAnswer?.(answer)
    if (log.isLevelEnabled('debug')) log.debug({ event: 'answered', requestId, ...answer })
  }

/** Answers what needs no route, until the server closes: then the routes tell the client to close its connection. */
function answerBeforeRoutes(
  app: FastifyInstance,
  known: NonNullable<HostOptions['known']>,
  securityHeaders: readonly (readonly [string, string])[],
  answered: Answered,
): void {
  let find = known
  app.addHook('preClose', async () => {
    find = () => null
  })
  answerKnown(app.server, {
    find: (message) => find(message),
    headers: { ...Object.fromEntries(securityHeaders) },
    newId: newRequestId,
    onAnswer: ({ route }, requestId, durationMs) =>
      answered(requestId, { method: 'GET', route, status: 200, durationMs }),
  })
}

/**
 * One logger for all requests. A logger for each would cost more than the request's route; lines about a request have
 * its id as a field instead. `childLoggerFactory` would do as well, but fastify checks its result at every request.
 */
function sharedByRequests(log: Logger): FastifyBaseLogger {
  const shared: FastifyBaseLogger = Object.create(log, { child: { value: () => shared } })
  return shared
}

/** Makes `request.ip` the client's address behind trusted proxies. */
function trust(app: FastifyInstance, proxies: ProxyTrust, log: Logger): void {
  const { trustedProxies, clientAddressFrom } = proxies
  if (clientAddressFrom === 'proxy-protocol') {
    // After all listeners for connections were added, because they must see the client's address.
    app.addHook('onReady', async () => acceptProxyHeaders(app.server, { trustedProxies, log }))
    return
  }
  app.addHook('onRequest', async (request) => {
    const header = request.headers[clientAddressFrom]
    const value = clientAddress(proxies, request.ip, Array.isArray(header) ? header.join(',') : header)
    if (value !== request.ip) Object.defineProperty(request, 'ip', { value })
  })
}

const SECURITY_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
] as const

/** RFC 6797: a browser that used TLS once does so for a year. */
const ONLY_TLS = ['strict-transport-security', 'max-age=31536000'] as const

/** Limit of the body of a request that needs no token. The largest is a login with the token of a service account. */
const OPEN_BODY_LIMIT_BYTES = 32_768

/** Mounts a surface. Its hooks, error handler and limits affect no other one. */
export function mount(app: FastifyInstance, surface: Surface, gate: Gate | null = null): void {
  const isOpen = openOf(surface)
  void app.register(
    (scope, _options, done) => {
      scope.addHook('onRoute', (route) => {
        route.bodyLimit ??= isOpen(route.url, [route.method].flat().join())
          ? Math.min(surface.bodyLimitBytes, OPEN_BODY_LIMIT_BYTES)
          : surface.bodyLimitBytes
      })
      gate?.(scope, isOpen)
      void scope.register(surface.plugin)
      done()
    },
    { prefix: surface.prefix },
  )
}

function openOf({ prefix, open = [] }: Surface): IsOpen {
  const routes = open.flatMap((one) => {
    const [path = '', method = ''] = one.split(' ').toReversed()
    const pattern = withoutSlash(`${prefix}${path}`)
    // With a slash at the end, too: the root of a surface is a route of that name.
    return [pattern, `${pattern}/`].map((each) => ({ method, key: method === '' ? each : `${method} ${each}` }))
  })
  const ofAllMethods = new Set(routes.filter(({ method }) => method === '').map(({ key }) => key))
  const ofOne = new Set(routes.filter(({ method }) => method !== '').map(({ key }) => key))
  return (pattern, method) => ofAllMethods.has(pattern) || (ofOne.size > 0 && ofOne.has(`${method} ${pattern}`))
}

const withoutSlash = (path: string): string => path.replace(/\/+$/, '')
