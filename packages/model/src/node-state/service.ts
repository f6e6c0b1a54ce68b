import type { SyslogTarget } from '../load-balancers/access-log.ts'
import type { INSERT_HEADERS } from '../load-balancers/listener.ts'
import type { Cipher } from '../scalars/ciphers.ts'
import type { ListenerProtocol } from '../scalars/protocols.ts'
import type { NodeCertificate } from './certificate.ts'
import type { NodeRoute } from './route.ts'

/** A listener. It listens on every VIP of its load balancer. */
export interface Service {
  /** The listener's id. */
  readonly id: string
  readonly protocol: ListenerProtocol
  readonly port: number
  /** `NodePool.number`. Null: connections are refused (L4: reset, HTTP: 503). */
  readonly pool: number | null
  /** Maximum of simultaneous connections, over all VIPs; null for none. */
  readonly connectionLimit: number | null
  /** Sources that may connect; null for all. */
  readonly allowedCidrs: readonly string[] | null
  readonly timeouts: {
    readonly clientMs: number
    readonly connectMs: number
    readonly memberMs: number
    /** Time-out for the ClientHello, with protocol `tls-passthrough` alone. Absent: the node's default. */
    readonly inspectMs?: number
  }
  readonly insertHeaders: readonly (typeof INSERT_HEADERS)[number][]
  /**
   * The first route whose conditions all hold takes a request, or with protocol `tls-passthrough` a connection. `pool`
   * gets what no route takes. Absent: there are no routes.
   */
  readonly routes?: readonly NodeRoute[]
  /** How the proxy terminates TLS (protocols `https` and `tls`). Absent: it does not. */
  readonly tls?: ServiceTls
  /** Whether durations of requests are counted. Absent: they are not. */
  readonly latencies?: true
  /** Whether requests and responses are counted for each route. Absent: they are not. */
  readonly routeFigures?: true
  /**
   * The format of a line for each request or connection. Lines go to `syslog`, or without it to the project's log.
   * Absent: no access log.
   */
  readonly accessLog?: { readonly format: string; readonly projectId: string; readonly syslog?: NodeSyslog }
}

/** A receiver of access logs. `tls` is present with transport `tls` only. */
export interface NodeSyslog extends Omit<SyslogTarget, 'tls'> {
  readonly tls?: NodeSyslogTls
}

export interface NodeSyslogTls {
  readonly authorities: NodeCertificate
  /** The name that the receiver's certificate must have. Null: the receiver's address. */
  readonly serverName: string | null
  /** Null: none is presented. */
  readonly certificate: NodeCertificate | null
}

/** The entry names certificates and does not contain them: the node fetches those that it lacks. */
export interface ServiceTls {
  /** At least one. */
  readonly certificates: readonly NodeCertificate[]
  /**
   * What a client gets whose server name is in no certificate: the first certificate (`default`) or an alert
   * (`refuse`).
   */
  readonly unknownNames: 'default' | 'refuse'
  readonly minVersion: '1.2' | '1.3'
  /**
   * Cipher suites in order of preference. A version of which it names none keeps its defaults. Absent: all defaults.
   */
  readonly ciphers?: readonly Cipher[]
  /** Application protocols to negotiate (ALPN, RFC 7301), in order of preference. Empty: none. */
  readonly alpn: readonly ('h2' | 'http/1.1')[]
  /** The header Strict-Transport-Security that is added to responses (RFC 6797). Absent: none is added. */
  readonly hsts?: { readonly maxAgeSeconds: number; readonly includeSubdomains: boolean; readonly preload: boolean }
  /** Clients are asked for a certificate of these authorities. Absent: they are not. */
  readonly clients?: {
    readonly authorities: NodeCertificate
    readonly required: boolean
    /** Whether clients with an invalid certificate are accepted. Absent: they are refused. */
    readonly acceptInvalid?: true
    /** The certificates that these authorities revoked. Absent: revocation is not checked. */
    readonly revocations?: NodeCertificate
  }
  /**
   * Host names that are kept apart: a request gets 421 if its host belongs to another of these names than the server
   * name (SNI) of its connection. Absent: no request does.
   */
  readonly separateHosts?: readonly string[]
}
