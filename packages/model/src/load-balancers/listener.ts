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
 * Headers in which members get the client's certificate from listeners of protocol `https`. They are empty without a
 * certificate.
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

/** Options of a listener besides where it listens and where it sends to, each with its default. */
export const listenerOptions = {
  /** Maximum of simultaneous connections; null sets no limit. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable().default(null),
  timeouts: z
    .strictObject({
      clientMs: timeoutMs.default(50_000),
      connectMs: timeoutMs.default(5000),
      memberMs: timeoutMs.default(50_000),
      /** Protocol `tls-passthrough`: for the ClientHello. 0: as long as nodes give the header of a request. */
      inspectMs: timeoutMs.default(0),
    })
    .prefault({}),
  insertHeaders: z.array(z.enum(INSERT_HEADERS)).default([]),
  /** Whether durations of requests are counted. For protocols `http` and `https`. */
  latencies: z.boolean().default(false),
  /** Whether that, and responses, are counted for each route, too. With `latencies` alone. */
  routeFigures: z.boolean().default(false),
  /** Null: no lines are written. For protocols `http`, `https`, `tcp-proxy`, `tls` and `tls-passthrough`. */
  accessLog: accessLog.nullable().default(null),
  /** Sources that may connect. Null admits all, an empty list none. */
  allowedCidrs: z.array(looseCidrText).max(200).nullable().default(null),
}
/** Certificates of one listener. */
export const MOST_LISTENER_CERTIFICATES = 100

/**
 * Cipher suites by preference. Those of TLS 1.2 and those of TLS 1.3 are chosen apart: where a list names none of a
 * version, that version has its usual ones.
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
  /** Chosen by the name that the client asks for (SNI, RFC 6066 section 3). */
  certificateIds: z
    .array(uuid)
    .min(1)
    .max(MOST_LISTENER_CERTIFICATES)
    .refine((ids) => new Set(ids).size === ids.length, { message: 'names a certificate twice' }),
  /** Clients whose name no certificate has get the first certificate, or the alert `unrecognized_name`. */
  unknownNames: z.enum(['default', 'refuse']).default('default'),
  minVersion: z.enum(['1.2', '1.3']).default('1.2'),
  /** Null: the defaults. */
  ciphers: cipherList.nullable().default(null),
  /** Application protocols that are negotiated (ALPN, RFC 7301), by preference. Empty: none. */
  alpn: z
    .array(z.enum(['h2', 'http/1.1']))
    .max(2)
    .default(['h2', 'http/1.1']),
  /** Clients that read it insist on TLS for so long (RFC 6797). Null: responses are as members send them. */
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
      /** A certificate without a key: the authorities that clients' certificates must be from. */
      caCertificateId: uuid,
      /**
       * The lists of what these authorities revoked: one of each authority, also of those between. Absent or null:
       * nothing is looked up.
       */
      crlCertificateId: uuid.nullish(),
      /** Whether a client without a certificate is refused. */
      required: z.boolean().default(true),
      /**
       * Whether a client whose certificate is not valid is accepted as if it had none. Headers can tell members what is
       * wrong with it. Absent: it is refused; earlier versions do not know the field.
       */
      acceptInvalid: z.boolean().optional(),
    })
    .nullable()
    .default(null),
  /** For protocol `https`. Absent: no request is refused for its host; earlier versions do not know the field. */
  separateHosts: separateHosts.optional(),
})
export type ListenerTls = z.infer<typeof listenerTls>

/** Options of a listener that sets none. */
export const LISTENER_DEFAULTS = z.strictObject(listenerOptions).parse({})

export const listener = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  protocol: z.enum(LISTENER_PROTOCOLS),
  port,
  /** Gets connections, and requests that no route takes. */
  defaultPoolId: uuid.nullable(),
  /** For protocols `http` and `https`; for `tls` and `tls-passthrough` with conditions on the host alone. */
  routes: httpRoutes.default([]),
  /** Required for protocols `https` and `tls`, and refused for others. */
  tls: listenerTls.nullable().default(null),
  ...listenerOptions,
})
export type Listener = z.infer<typeof listener>

/**
 * Whether a listener needs a pool and has none: it refuses connections, or answers requests with 503.
 * @param all enabled listeners of its load balancer: one of them may take what it passes on
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

/** The cost depends on the difference to lists of routes that were asked for before. */
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

/** The pools that listeners send to, those that get copies of requests included, in no order. */
export const usedPoolIds = poolIdsBy(new ListTally(poolsOf))
/** The pools that answer requests of listeners, in no order. */
export const answeringPoolIds = poolIdsBy(new ListTally(answeringPools))

/** The pools that a listener sends to: its default and those of its routes, in the order in which it names them. */
export const poolIdsOf = ({ defaultPoolId, routes }: Sender): readonly string[] => {
  const ids = new Set(defaultPoolId === null ? [] : [defaultPoolId])
  for (const route of routes) for (const id of poolsOf(route)) ids.add(id)
  return [...ids]
}

/** The list of users that a route asks; undefined without one. */
export const userListOf = ({ action }: HttpRoute): string | undefined =>
  action.type === 'forward' ? action.basicAuthentication?.usersId : undefined

const userLists = new ListTally<HttpRoute>((route) => {
  const id = userListOf(route)
  return id === undefined ? [] : [id]
})

/**
 * Ids of the lists of users that routes name, in no order. The cost depends on the difference to lists of routes that
 * were asked for before.
 */
export const userListIds = (routes: readonly HttpRoute[]): readonly string[] =>
  routes.length === 0 ? [] : [...userLists.of(routes).keys()]
