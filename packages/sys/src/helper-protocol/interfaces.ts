// Requests and replies of `spout-helper` about addresses, routes and counters of interfaces.
// docs/design/0002-native-helper.md describes each op.

import type { InNetns } from './in-netns.ts'

export interface AddrChange {
  readonly do: 'add' | 'delete'
  readonly dev: string
  readonly address: string
  readonly prefix: number
}

export interface AddrChanges extends InNetns {
  readonly changes: readonly AddrChange[]
}

export interface LinkRef extends InNetns {
  readonly dev: string
}

export interface LinkAddress {
  readonly address: string
  readonly prefix: number
}

export interface RouteChange {
  readonly do: 'replace' | 'delete'
  /** A prefix: `192.0.2.1/32`, `::/0`. */
  readonly to: string
  readonly via?: string | null
  readonly dev?: string | null
  readonly table: number
  readonly type?: 'unicast' | 'local' | 'blackhole'
  /** Distinguishes routes to one prefix. Absent: the kernel's default to replace, the first found to delete. */
  readonly metric?: number
}

export interface RouteChanges extends InNetns {
  readonly changes: readonly RouteChange[]
}

export interface RouteTableRef extends InNetns {
  readonly table: number
}

export interface Route {
  readonly to: string
  readonly via: string | null
  readonly dev: string | null
  readonly type: string
  readonly metric: number
}

/** The traffic of an interface since it was created. */
export interface Traffic {
  readonly packetsIn: number
  readonly bytesIn: number
  readonly packetsOut: number
  readonly bytesOut: number
}
