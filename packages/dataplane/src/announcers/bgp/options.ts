import type { Clock } from '@spout/runtime'
import type { Log, NativeHelper } from '@spout/sys'
import type { DomainConfig } from '../../domain/domain-config.ts'

export interface BgpOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  readonly clock: Clock
  /**
   * Memory-backed, used by this announcer alone: configurations, sockets and logs of the two daemons. At most 80
   * characters.
   */
  readonly runDirectory: string
  /** Kernel routing table for announced routes. No rule refers to it. Default 7200. */
  readonly table?: number
  /** TCP port on which peers reach us. Default 179. */
  readonly listenPort?: number
  /** Default `/usr/sbin/bird`. */
  readonly executable?: string
  /** The daemons run as this user and keep only network capabilities. Default `bird`; null is root. */
  readonly user?: string | null
  /** How long routes without an announcement are kept after `adopt`. Default 30 s. */
  readonly leftoversGraceMs?: number
}

export const DEFAULT_ANNOUNCE_TABLE = 7200
export const DEFAULT_LISTEN_PORT = 179
export const DEFAULT_BIRD = '/usr/sbin/bird'
export const DEFAULT_BIRD_USER = 'bird'
/** Both daemons listen for BGP sessions. The BFD daemon speaks no BGP but needs a port of its own. */
export const BFD_LISTEN_PORT = 3783
