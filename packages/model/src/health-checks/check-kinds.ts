import type { PROTOCOL_NUMBERS } from '../scalars/protocols.ts'

/** What code that makes no probes itself must know about a kind of health check. */
interface CheckKind {
  /** The transport that carries the probe. It decides which pools may use the kind, and whether it needs a port. */
  readonly over: keyof typeof PROTOCOL_NUMBERS
  /** Whether the probe sends the HTTP request of its monitor (`HealthMonitor.http`). */
  readonly sendsRequest: boolean
}

/** Every kind of health check. The compiler demands a probe for each (`PROBES` of the data plane). */
export const CHECK_KINDS = {
  tcp: { over: 'tcp', sendsRequest: false },
  http: { over: 'tcp', sendsRequest: true },
  https: { over: 'tcp', sendsRequest: true },
  'tls-hello': { over: 'tcp', sendsRequest: false },
  ping: { over: 'icmp', sendsRequest: false },
  udp: { over: 'udp', sendsRequest: false },
  sctp: { over: 'sctp', sendsRequest: false },
} as const satisfies Readonly<Record<string, CheckKind>>

export type CheckType = keyof typeof CHECK_KINDS
export const CHECK_TYPES = Object.keys(CHECK_KINDS) as [CheckType, ...CheckType[]]

/**
 * Whether probes of this type need a port. Types of a newer control plane that are unknown here count as needing one.
 */
export const asksPort = (type: string): boolean =>
  (CHECK_KINDS as Readonly<Record<string, CheckKind>>)[type]?.over !== 'icmp'

/** Whether probes of this type send an HTTP request. */
export const sendsRequest = (type: CheckType): boolean => CHECK_KINDS[type].sendsRequest
