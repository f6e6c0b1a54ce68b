import type { CarriedRequest } from '@spout/dataplane'

/** Facility `local0` (16) and severity `informational` (6): RFC 5424 section 6.2.1. */
const PRIORITY = 16 * 8 + 6

/**
 * A syslog message (RFC 5424). Its host name is the VIP that the client connected to, which is the same on every node.
 * @param line printable ASCII
 */
export function syslogMessage(line: string, { endedAtUs, vip, http }: CarriedRequest): string {
  const time = new Date(Math.floor(endedAtUs / 1000)).toISOString().slice(0, -1)
  const microseconds = String(endedAtUs % 1000).padStart(3, '0')
  return `<${PRIORITY}>1 ${time}${microseconds}Z ${vip.address || '-'} spout - ${http === null ? 'connection' : 'request'} - ${line}`
}
