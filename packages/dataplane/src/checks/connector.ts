import type { Connect, ConnectResult, Ping, PingResult, Sctp, SctpResult, Udp, UdpResult } from '@spout/sys'

/** The part of the native helper that TCP and HTTP probes use. */
export interface TcpConnector {
  connect(request: Connect, signal?: AbortSignal): Promise<ConnectResult>
}

/** The part of the native helper that ping probes use. */
export interface Pinger {
  ping(request: Ping, signal?: AbortSignal): Promise<PingResult>
}

/** The part of the native helper that UDP probes use. */
export interface UdpProber {
  udp(request: Udp, signal?: AbortSignal): Promise<UdpResult>
}

/** The part of the native helper that SCTP probes use. */
export interface SctpProber {
  sctp(request: Sctp, signal?: AbortSignal): Promise<SctpResult>
}

/** Path of a domain's network namespace; undefined for the agent's own. */
export type ProbePlace = (domain: number) => string | undefined

export const timedOut = (timeoutMs: number): string => `timed out after ${timeoutMs} ms`

/** The helper's failure text; for a time-out, with its length. */
export const connectFailure = (reason: string, timeoutMs: number): string =>
  reason === 'timed out' ? timedOut(timeoutMs) : reason
