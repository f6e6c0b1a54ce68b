import { z } from 'zod'
import { ListTally } from '../diff/list-tally.ts'
import { type HttpRoute, httpRoutes } from '../routes/http-route.ts'
import { separateHosts } from '../routes/separate-hosts.ts'
import { CIPHERS, isCipher, whyNoCipher } from '../scalars/ciphers.ts'
import { LISTENER_PROTOCOLS, listenerBehind } from '../scalars/protocols.ts'
import { looseCidrText, metaShape, port, tags, uuid } from '../scalars/scalars.ts'
import { accessLog } from './access-log.ts'

export const FORWARDED_HEADERS = ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto', 'x-real-ip'] as const
/**
 * Headers in which listeners of protocol `https` pass facts about the client's certificate to members. They are empty
 * if the client has no certificate.
 */
export const CLIENT_CERTIFICATE_HEADERS = [
  'x-ssl-client-verify',
  'x-ssl-client-has-cert',
  'x-ssl-client-dn',
  'x-ssl-client-cn',
  'x-ssl-issuer',
  'x-ssl-client-sha1',
  'x-ssl-client-not-before',
  'x-ssl-client-not-after',
] as const
export const INSERT_HEADERS = [...FORWARDED_HEADERS, ...CLIENT_CERTIFICATE_HEADERS] as const

const timeoutMs = z.number().int().min(0).max(2_073_600_000)

/** Options of a listener, each with its default: all but where it listens and to which pools it sends. */
export const listenerOptions = {
  /** Maximum of simultaneous connections; null sets no limit. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable().default(null),
  timeouts: z
    .strictObject({
      clientMs: timeoutMs.default(50_000),
      connectMs: timeoutMs.default(5000),
      memberMs: timeoutMs.default(50_000),
      /**
       * For the ClientHello, with protocol `tls-passthrough`. 0: the time-out that nodes have for a request's header.
       */
      inspectMs: timeoutMs.default(0),
    })
    .prefault({}),
  insertHeaders: z.array(z.enum(INSERT_HEADERS)).default([]),
  /** Whether durations of requests are counted. For protocols `http` and `https`. */
  latencies: z.boolean().default(false),
  /** Whether durations and responses are also counted for each route. Requires `latencies`. */
  routeFigures: z.boolean().default(false),
  /** For protocols `http`, `https`, `tcp-proxy`, `tls` and `tls-passthrough`. Null: no access log. */
  accessLog: accessLog.nullable().default(null),
  /** Sources that may connect. Null admits all, an empty list none. */
  allowedCidrs: z.array(looseCidrText).max(200).nullable().default(null),
}
/** Limit of certificates per listener. */
export const MOST_LISTENER_CERTIFICATES = 100

/**
 * Cipher suites in order of preference. TLS 1.2 and TLS 1.3 are configured separately: a version of which the list
 * names no suite keeps its default suites.
 */
export const cipherList = z
  .array(
    z
      .string()
      .refine(isCipher, { error: ({ input }) => `${JSON.stringify(input)} ${whyNoCipher(String(input))}`, abort: true })
      .pipe(z.enum(CIPHERS)),
  )
  .min(1)
  .refine((names) => new Set(names).size === names.length, { message: 'names a cipher twice' })

/** How a listener of protocol `https` or `tls` ends TLS. */
export const listenerTls = z.strictObject({
  /** The client's server name (SNI, RFC 6066 section 3) selects the certificate. */
  certificateIds: z
    .array(uuid)
    .min(1)
    .max(MOST_LISTENER_CERTIFICATES)
    .refine((ids) => new Set(ids).size === ids.length, { message: 'names a certificate twice' }),
  /**
   * What a client gets whose server name is in no certificate. `default`: the first certificate. `refuse`: the alert
   * `unrecognized_name`.
   */
  unknownNames: z.enum(['default', 'refuse']).default('default'),
  minVersion: z.enum(['1.2', '1.3']).default('1.2'),
  /** Null: the defaults. */
  ciphers: cipherList.nullable().default(null),
  /** Application protocols to negotiate (ALPN, RFC 7301), in order of preference. Empty: none. */
  alpn: z
    .array(z.enum(['h2', 'http/1.1']))
    .max(2)
    .default(['h2', 'http/1.1']),
  /** The header Strict-Transport-Security that is added to responses (RFC 6797). Null: none is added. */
  hsts: z
    .strictObject({
      maxAgeSeconds: z.number().int().min(0).max(0x7fff_ffff),
      includeSubdomains: z.boolean().default(false),
      preload: z.boolean().default(false),
    })
    .nullable()
    .default(null),
  /** Whether clients are asked for a certificate (RFC 8446 section 4.3.2). Null: they are not. */
  clientCertificates: z
    .strictObject({
      /** The authorities that must have issued clients' certificates: a certificate object without a key. */
      caCertificateId: uuid,
      /**
       * The certificates that these authorities revoked: one list of each authority, intermediate ones included. Absent
       * or null: revocation is not checked.
       */
      crlCertificateId: uuid.nullish(),
      /** Whether a client without a certificate is refused. */
      required: z.boolean().default(true),
      /**
       * Whether a client with an invalid certificate is accepted as if it had none. Headers can tell members why it is
       * invalid. Absent: the client is refused. Earlier versions do not know the field.
       */
      acceptInvalid: z.boolean().optional(),
    })
    .nullable()
    .default(null),
  /** For protocol `https`. Absent: no request is refused for its host. Earlier versions do not know the field. */
  separateHosts: separateHosts.optional(),
})
export type ListenerTls = z.infer<typeof listenerTls>

/** The options of a listener that sets none of them. */
export const LISTENER_DEFAULTS = z.strictObject(listenerOptions).parse({})

export const listener = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  protocol: z.enum(LISTENER_PROTOCOLS),
  port,
  /** The pool of connections, and of requests that match no route. */
  defaultPoolId: uuid.nullable(),
  /** For protocols `http` and `https`. For `tls` and `tls-passthrough` only with conditions on the host. */
  routes: httpRoutes.default([]),
  /** Required for protocols `https` and `tls`, and refused for others. */
  tls: listenerTls.nullable().default(null),
  ...listenerOptions,
})
export type Listener = z.infer<typeof listener>

/**
 * Whether a listener needs a pool and has none: it refuses connections, or answers requests with 503.
 * @param all the enabled listeners of its load balancer: one of them may take the connections that it passes on
 */
export const lacksPool = (
  listener: Pick<Listener, 'protocol' | 'port' | 'defaultPoolId' | 'routes'>,
  all: readonly Pick<Listener, 'protocol' | 'port'>[],
): boolean =>
  listener.protocol !== 'metrics' &&
  listener.defaultPoolId === null &&
  listener.routes.length === 0 &&
  listenerBehind(listener, all) === undefined

type Sender = Pick<Listener, 'defaultPoolId' | 'routes'>

const answeringPools = ({ action }: HttpRoute): readonly string[] =>
  action.type === 'forward' ? action.pools.map(({ poolId }) => poolId) : []
const poolsOf = (route: HttpRoute): readonly string[] => {
  const { mirrors = [], authorizer = undefined } = route.action.type === 'forward' ? route.action : {}
  const asked = authorizer === undefined ? [] : [authorizer.poolId]
  return [...answeringPools(route), ...asked, ...mirrors.map(({ poolId }) => poolId)]
}

/** The cost depends on the difference to lists of routes that were counted before (`ListTally`). */
const poolIdsBy = (poolsOfRoutes: ListTally<HttpRoute>) => {
  return (listeners: readonly Sender[]): ReadonlySet<string> => {
    const used = new Set<string>()
    for (const { defaultPoolId, routes } of listeners) {
      if (defaultPoolId !== null) used.add(defaultPoolId)
      if (routes.length > 0) for (const id of poolsOfRoutes.of(routes).keys()) used.add(id)
    }
    return used
  }
}

/**
 * All pools that listeners name: default pools and those of routes, authorizers and mirrors. In no particular order.
 */
export const usedPoolIds = poolIdsBy(new ListTally(poolsOf))
/** The pools that answer the requests of listeners, without authorizers and mirrors. In no particular order. */
export const answeringPoolIds = poolIdsBy(new ListTally(answeringPools))

/** All pools that one listener names: its default and those of its routes, in the order in which it names them. */
export const poolIdsOf = ({ defaultPoolId, routes }: Sender): readonly string[] => {
  const ids = new Set(defaultPoolId === null ? [] : [defaultPoolId])
  for (const route of routes) for (const id of poolsOf(route)) ids.add(id)
  return [...ids]
}

/** The id of the list of users that a route checks passwords with; undefined if it checks none. */
export const userListOf = ({ action }: HttpRoute): string | undefined =>
  action.type === 'forward' ? action.basicAuthentication?.usersId : undefined

const userLists = new ListTally<HttpRoute>((route) => {
  const id = userListOf(route)
  return id === undefined ? [] : [id]
})

/**
 * Ids of the lists of users that routes name, in no particular order. The cost depends on the difference to lists of
 * routes that were counted before.
 */
export const userListIds = (routes: readonly HttpRoute[]): readonly string[] =>
  routes.length === 0 ? [] : [...userLists.of(routes).keys()]
