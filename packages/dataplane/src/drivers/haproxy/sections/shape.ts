import type { Cipher } from '@spout/model/ciphers'
import type { ClientHeader } from './client-headers.ts'

/**
 * Properties of a proxy section that cannot be changed at run time. Sections are created in advance by shape and
 * assigned by shape.
 */

export type ProxyMode = 'http' | 'tcp'

/** `source` and `source-port` use consistent hashing, so that a removed member moves only its own clients. */
export type Balance = 'roundrobin' | 'leastconn' | 'source' | 'source-port'

/** Headers that a request gets. A header of that name from the client is replaced. */
export const FORWARDED = ['for', 'port', 'proto'] as const
export type Forwarded = (typeof FORWARDED)[number]

/** How a frontend ends TLS. */
export interface TlsShape {
  readonly minVersion: '1.2' | '1.3'
  /** Ciphers in order of preference. Absent: the defaults. */
  readonly ciphers?: readonly Cipher[]
  /** In order of preference. */
  readonly alpn: readonly ('h2' | 'http/1.1')[]
  /** Whether a client that names no host of a certificate gets the fallback certificate or an alert. */
  readonly unknownNames: 'default' | 'refuse'
  /**
   * Whether clients are asked for a certificate, and must have one. `any`: they need none, and one that does not fit is
   * none. Absent: they are not asked.
   */
  readonly clients?: 'any' | 'optional' | 'required'
  /** Clients' certificates are looked up in lists of revoked ones. Absent: they are not. */
  readonly revocations?: true
  /** Requests are compared with the name that their connection asked for. Absent: they are not. */
  readonly separate?: true
}

export interface FrontendShape {
  readonly mode: ProxyMode
  readonly clientMs: number
  /**
   * In the order of `FORWARDED`. Part of the shape, since rules that look up a map cost every request a few per cent.
   */
  readonly forwarded: readonly Forwarded[]
  /** Other headers for members. Absent: none. */
  readonly told?: readonly ClientHeader[]
  /** Absent: it does not speak TLS. */
  readonly tls?: TlsShape
  /**
   * It passes TLS on, by the name in the ClientHello, which may take this long; 0: as long as the header of a request.
   * Absent: it does not look.
   */
  readonly helloMs?: number
  /** It also gets connections from a frontend that passes TLS on. Absent: from the packet path alone. */
  readonly behind?: true
  /** Larger requests are refused. Absent: as large as the process takes. */
  readonly sizes?: SizeShape
}

/**
 * Limits of an HTTP frontend. They are part of the shape for the same reason as headers; an administrator makes few of
 * them.
 */
export interface SizeShape {
  /** Bytes of the target and the header lines. Absent: as many as the process accepts. */
  readonly headerBytes?: number
  /** Absent: as many as there are. */
  readonly bodyBytes?: number
}

export interface BackendShape {
  readonly mode: ProxyMode
  readonly balance: Balance
  readonly connectMs: number
  readonly memberMs: number
  /** How clients keep their server. Absent: they do not. */
  readonly session?: SessionShape
  /** How long the server of a client's address is remembered after its last connection, in seconds. Absent: it is not. */
  readonly keepSeconds?: number
}

/** Whether rules of the backend send clients back to the server that they had. */
export const returnsClients = (shape: BackendShape | undefined): boolean =>
  shape?.session !== undefined || shape?.keepSeconds !== undefined

export interface SessionShape {
  /** The name of our cookie, `SPOUT-<digits>`, which differs by pool: one site may have several. */
  readonly cookie: string
  /** Attributes of the cookie. Absent: none. */
  readonly attributes?: CookieAttributes
  /** The name of the members' cookie that sessions begin and end with, in hexadecimal. Absent: all clients have one. */
  readonly application?: string
}

/** Texts are in hexadecimal. What is absent is as of a cookie without attributes. */
export interface CookieAttributes {
  readonly name?: string
  readonly path?: string
  readonly sameSite?: 'strict' | 'lax' | 'none'
  readonly secure?: boolean
  readonly maxAgeSeconds?: number
}

/** `http`, `http-for-port`, `https-proto`, `http-h8192-b1048576`: what the rules of a frontend depend on. */
export const frontendKind = ({
  mode,
  forwarded,
  told = [],
  tls,
  sizes,
}: Pick<FrontendShape, 'mode' | 'forwarded' | 'told' | 'tls' | 'sizes'>): string =>
  [
    tls === undefined ? mode : `${mode}s`,
    ...(tls?.separate ? ['separate'] : []),
    ...forwarded,
    ...told,
    ...sizeWords(sizes),
  ].join('-')

/** `h8192`, `b1048576`. */
const sizeWords = ({ headerBytes, bodyBytes }: SizeShape = {}): readonly string[] => [
  ...(headerBytes === undefined ? [] : [`h${headerBytes}`]),
  ...(bodyBytes === undefined ? [] : [`b${bodyBytes}`]),
]

/** `http/50000`, `http-for-port/50000`, `https/50000/1.2/h2,http/1.1/default`, `tcp/50000/hello-0`. */
export const frontendShapeKey = (shape: FrontendShape): string =>
  [
    frontendKind(shape),
    shape.clientMs,
    ...(shape.tls === undefined ? [] : tlsWords(shape.tls)),
    ...(shape.helloMs === undefined ? [] : [`hello-${shape.helloMs}`]),
    ...(shape.behind ? ['behind'] : []),
  ].join('/')

const tlsWords = ({ minVersion, ciphers, alpn, unknownNames, clients, revocations }: TlsShape): readonly string[] => [
  minVersion,
  alpn.join(),
  unknownNames,
  ...(clients === undefined ? [] : [clients]),
  ...(revocations === undefined ? [] : ['crl']),
  ...(ciphers === undefined ? [] : [ciphers.join(':')]),
]

/** `http/roundrobin/5000/50000`, `http/roundrobin/5000/50000/SPOUT-0a1b2c3d-`, `tcp/source/5000/50000/keep-300`. */
export const backendShapeKey = ({ mode, balance, connectMs, memberMs, session, keepSeconds }: BackendShape): string =>
  [
    mode,
    balance,
    connectMs,
    memberMs,
    ...(session === undefined ? [] : [sessionWord(session)]),
    ...(keepSeconds === undefined ? [] : [`keep-${keepSeconds}`]),
  ].join('/')

const sessionWord = ({ cookie, application = '', attributes }: SessionShape): string =>
  [`${cookie}-${application}`, ...(attributes === undefined ? [] : [attributesWord(attributes)])].join('-')

/** `726f757465:2f:lax:true:3600`; parts that are absent are empty. */
const attributesWord = ({ name, path, sameSite, secure, maxAgeSeconds }: CookieAttributes): string =>
  [name, path, sameSite, secure, maxAgeSeconds].join(':')

/** Slots of a shape in a first process. */
export interface Stock<Shape> {
  readonly shape: Shape
  readonly count: number
}

/** The default time-outs of a listener. */
export const DEFAULT_TIMEOUTS = { clientMs: 50_000, connectMs: 5_000, memberMs: 50_000 } as const

const { clientMs, ...memberSide } = DEFAULT_TIMEOUTS

/** All combinations of headers, the empty one first. */
const CHOICES: readonly (readonly Forwarded[])[] = Array.from({ length: 1 << FORWARDED.length }, (_, bits) =>
  FORWARDED.filter((_, index) => (bits & (1 << index)) !== 0),
)

/** The TLS settings of a listener that sets none. */
const USUAL_TLS: TlsShape = { minVersion: '1.2', alpn: ['h2', 'http/1.1'], unknownNames: 'default' }

export const FRONTEND_STOCK: readonly Stock<FrontendShape>[] = [
  ...CHOICES.map((forwarded) => ({
    shape: { mode: 'http' as const, clientMs, forwarded },
    count: forwarded.length === 0 ? 8 : 2,
  })),
  { shape: { mode: 'tcp', clientMs, forwarded: [] }, count: 4 },
  { shape: { mode: 'tcp', clientMs, forwarded: [], helloMs: 0 }, count: 2 },
  ...[[], [...FORWARDED]].map((forwarded) => ({
    shape: { mode: 'http' as const, clientMs, forwarded, tls: USUAL_TLS },
    count: 2,
  })),
]

export const BACKEND_STOCK: readonly Stock<BackendShape>[] = [
  { shape: { mode: 'http', balance: 'roundrobin', ...memberSide }, count: 8 },
  { shape: { mode: 'http', balance: 'leastconn', ...memberSide }, count: 4 },
  { shape: { mode: 'http', balance: 'source', ...memberSide }, count: 2 },
  { shape: { mode: 'tcp', balance: 'roundrobin', ...memberSide }, count: 4 },
  { shape: { mode: 'tcp', balance: 'leastconn', ...memberSide }, count: 2 },
  { shape: { mode: 'tcp', balance: 'source', ...memberSide }, count: 2 },
]
