import type { Clock } from '@spout/runtime'
import type { Log, NativeHelper } from '@spout/sys'
import type { DomainConfig } from '../../domain/domain-config.ts'

export interface BgpOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  readonly clock: Clock
  /** Memory-backed, ours alone: configurations, sockets and logs of the two daemons. At most 80 characters. */
  readonly runDirectory: string
  /** Kernel routing table that holds what is announced; no rule looks into it. Default 7200. */
  readonly table?: number
  /** TCP port on which peers reach us. Default 179. */
  readonly listenPort?: number
  /** Default `/usr/sbin/bird`. */
  readonly executable?: string
  /** The daemons run as this user, which keeps only the network's capabilities. Default `bird`; null is root. */
  readonly user?: string | null
  /** For how long after `adopt` routes that nobody named are left alone. Default 30 s. */
  readonly leftoversGraceMs?: number
}

export const DEFAULT_ANNOUNCE_TABLE = 7200
export const DEFAULT_LISTEN_PORT = 179
export const DEFAULT_BIRD = '/usr/sbin/bird'
export const DEFAULT_BIRD_USER = 'bird'
/** Both daemons listen for sessions; that of BFD speaks no BGP and wants a port of its own. */
export const BFD_LISTEN_PORT = 3783
