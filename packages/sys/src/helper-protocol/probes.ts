// Requests and replies of `spout-helper` that ask another machine something.
// docs/design/0002-native-helper.md describes each op.

import type { InNetns } from './in-netns.ts'

export interface Connect extends InNetns {
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
  /** Data that is sent once connected; then the answer is read. Absent: only connects. */
  readonly send?: Uint8Array
  /** Reading ends after this many bytes; at most 65536, default 4096. */
  readonly maxBytes?: number
  /** Local address to connect from. */
  readonly source?: string
  /** Starts TLS 1.2 or later first; data is sent and read through it. Any certificate is accepted. */
  readonly tls?: {
    /** The server name (RFC 6066 section 3), which is never an address. Absent: no server name is sent. */
    readonly serverName?: string
  }
}

export type ConnectResult =
  | {
      readonly connected: true
      readonly received: Uint8Array
      /** Why reading ended; `none` if nothing was read, `tls` if TLS failed. */
      readonly end: 'none' | 'full' | 'closed' | 'reset' | 'timeout' | 'tls'
      /** Present exactly with `tls`. */
      readonly tls?: TlsFailure
      readonly durationMs: number
    }
  | {
      readonly connected: false
      /** For people: `connection refused`, `timed out`, `no route to host`. */
      readonly reason: string
      readonly durationMs: number
    }

export interface TlsFailure {
  /** OpenSSL's text, never the peer's: `wrong version number`. */
  readonly reason: string
  /** Number of the peer's alert (RFC 8446 section 6); null if it sent none. */
  readonly alert: number | null
}

export interface Ping extends InNetns {
  readonly address: string
  readonly timeoutMs: number
}

export type PingResult =
  | { readonly answered: true; readonly durationMs: number }
  | { readonly answered: false; readonly reason: string }

export interface Udp extends InNetns {
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
}

/** `timed out` if nothing came back; otherwise the ICMP error. */
export type UdpResult =
  | { readonly answered: true; readonly durationMs: number }
  | { readonly answered: false; readonly reason: string; readonly durationMs: number }

export interface Sctp extends InNetns {
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
}

export type SctpResult =
  | { readonly accepted: true; readonly durationMs: number }
  | {
      readonly accepted: false
      /** For people: `aborted`, `wrong checksum`, `malformed answer`, `timed out`, or the ICMP error. */
      readonly reason: string
      /** With `aborted`: the first cause in the ABORT (RFC 9260 section 3.3.10), null if it has none. */
      readonly cause: number | null
      readonly durationMs: number
    }
