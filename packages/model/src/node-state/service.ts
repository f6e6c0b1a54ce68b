import type { SyslogTarget } from '../load-balancers/access-log.ts'
import type { INSERT_HEADERS } from '../load-balancers/listener.ts'
import type { Cipher } from '../scalars/ciphers.ts'
import type { ListenerProtocol } from '../scalars/protocols.ts'
import type { NodeCertificate } from './certificate.ts'
import type { NodeRoute } from './route.ts'

/** A listener, on every VIP of its load balancer. */
export interface Service {
  /** The listener's id. */
  readonly id: string
  readonly protocol: ListenerProtocol
  readonly port: number
  /** `NodePool.number`; null refuses connections (L4: reset, HTTP: 503). */
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
   * The first whose conditions all hold takes a request, or with protocol `tls-passthrough` a connection; `pool` gets
   * the others. Absent: there are none.
   */
  readonly routes?: readonly NodeRoute[]
  /** How TLS is ended; with protocol `https` alone. */
  readonly tls?: ServiceTls
  /** How long its requests take is counted. Absent: it is not. */
  readonly latencies?: true
  /** Whether requests and responses are counted for each route. Absent: they are not. */
  readonly routeFigures?: true
  /**
   * A line of this format for each request or connection. `syslog` gets it, if it is there, else the project's log.
   * Absent: none.
   */
  readonly accessLog?: { readonly format: string; readonly projectId: string; readonly syslog?: NodeSyslog }
}

/** A receiver of access logs. `tls` with transport `tls` alone. */
export interface NodeSyslog extends Omit<SyslogTarget, 'tls'> {
  readonly tls?: NodeSyslogTls
}

export interface NodeSyslogTls {
  readonly authorities: NodeCertificate
  /** Null: the member's address. */
  readonly serverName: string | null
  /** Null: none is presented. */
  readonly certificate: NodeCertificate | null
}

/** The certificates' content is not in the entry: the node asks for what it lacks. */
export interface ServiceTls {
  /** At least one. */
  readonly certificates: readonly NodeCertificate[]
  /** Clients that name no host of a certificate get the first one, or an alert. */
  readonly unknownNames: 'default' | 'refuse'
  readonly minVersion: '1.2' | '1.3'
  /** Cipher suites by preference, of TLS 1.2 and 1.3 apart. Absent, or none of a version: the usual ones. */
  readonly ciphers?: readonly Cipher[]
  /** Application protocols that are negotiated (ALPN, RFC 7301), by preference. Empty: none. */
  readonly alpn: readonly ('h2' | 'http/1.1')[]
  /** The header of responses that makes clients insist on TLS (RFC 6797). Absent: none is added. */
  readonly hsts?: { readonly maxAgeSeconds: number; readonly includeSubdomains: boolean; readonly preload: boolean }
  /** Clients are asked for a certificate of these authorities. Absent: they are not. */
  readonly clients?: {
    readonly authorities: NodeCertificate
    readonly required: boolean
    /** Whether clients with an invalid certificate are accepted. Absent: they are refused. */
    readonly acceptInvalid?: true
    /** The lists of what these authorities revoked. Absent: nothing is looked up. */
    readonly revocations?: NodeCertificate
  }
  /**
   * Names that separate requests: a request whose host belongs to another of these names than the name of its
   * connection (SNI) gets 421. Absent: none does.
   */
  readonly separateHosts?: readonly string[]
}
