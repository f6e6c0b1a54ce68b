import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('./sctp_servers.py', import.meta.url))

/** How a server answers an INIT. */
export type SctpManner =
  | 'accepting'
  | 'refusing'
  | 'full'
  | 'silent'
  | 'wrongTag'
  | 'wrongChecksum'
  | 'wrongPort'
  | 'withoutCookie'
  | 'late'
  | 'flooding'
  | 'losing'

/** A line of its output: a packet that it heard. */
export interface HeardSctp {
  readonly port: number
  /** Of its first chunk (RFC 9260 section 3.2): 1 is INIT, 6 is ABORT. */
  readonly kind: number
  /** Whether its verification tag is the one that the INIT ACK gave. */
  readonly tagged: boolean
}

/** The command of a server over raw sockets that answers at these ports, over IPv4 and IPv6. */
export const sctpServers = (manners: Readonly<Record<number, SctpManner>>): readonly [string, ...string[]] => [
  'python3',
  PROGRAM,
  JSON.stringify(manners),
]
