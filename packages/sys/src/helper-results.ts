import { bytes } from './helper-bytes.ts'
import type { Reply } from './helper-channel.ts'
import type { ArpProbeResult } from './helper-protocol/neighbours.ts'
import type { NftCount } from './helper-protocol/nftables.ts'
import type { ConnectResult, PingResult, SctpResult, UdpResult } from './helper-protocol/probes.ts'

// Converts replies of the helper to the types of helper-protocol. The helper's times are in microseconds.

const durationMs = (reply: Reply): number => (reply.us as number) / 1000

export function nftCounts(reply: Reply): readonly NftCount[] {
  const counts = new BigUint64Array(Uint8Array.from(bytes(reply.counters)).buffer)
  return Array.from({ length: counts.length / 2 }, (_, index) => ({
    packets: Number(counts[2 * index]),
    bytes: Number(counts[2 * index + 1]),
  }))
}

export const arpProbeResult = (reply: Reply): ArpProbeResult =>
  reply.answered === true ? { answered: true, mac: reply.mac as string } : { answered: false }

export const connectResult = (reply: Reply): ConnectResult =>
  reply.connected === true
    ? {
        connected: true,
        received: bytes(reply.received),
        end: reply.end as (ConnectResult & { connected: true })['end'],
        ...(reply.end === 'tls'
          ? { tls: { reason: reply.reason as string, alert: (reply.alert as number | undefined) ?? null } }
          : {}),
        durationMs: durationMs(reply),
      }
    : { connected: false, reason: reply.reason as string, durationMs: durationMs(reply) }

export const pingResult = (reply: Reply): PingResult =>
  reply.answered === true
    ? { answered: true, durationMs: durationMs(reply) }
    : { answered: false, reason: reply.reason as string }

export const udpResult = (reply: Reply): UdpResult =>
  reply.answered === true
    ? { answered: true, durationMs: durationMs(reply) }
    : { answered: false, reason: reply.reason as string, durationMs: durationMs(reply) }

export const sctpResult = (reply: Reply): SctpResult =>
  reply.accepted === true
    ? { accepted: true, durationMs: durationMs(reply) }
    : {
        accepted: false,
        reason: reply.reason as string,
        cause: (reply.cause as number | undefined) ?? null,
        durationMs: durationMs(reply),
      }
