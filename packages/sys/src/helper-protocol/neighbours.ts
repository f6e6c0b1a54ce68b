// Requests and replies of `spout-helper` about what neighbours learn: announcements, defence and probes of addresses.
// docs/design/0002-native-helper.md describes each op.

import type { LinkRef } from './interfaces.ts'

export interface Announce extends LinkRef {
  readonly addresses: readonly string[]
  /** Number of rounds; 0 cancels the remaining rounds for these addresses. */
  readonly count: number
  readonly intervalMs: number
}

/** Addresses of an interface that are defended from now on, and those that no longer are. */
export interface Defend extends LinkRef {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** Another host on the segment claimed a defended address. */
export interface AddressClaim {
  readonly netns: string | null
  readonly dev: string
  readonly address: string
  /** The link-layer address that neighbours would have learned. */
  readonly mac: string
  /** Claims since the address was last defended; at least 1. */
  readonly claims: number
}

export interface ArpProbe extends LinkRef {
  readonly address: string
  readonly timeoutMs: number
}

export type ArpProbeResult = { readonly answered: true; readonly mac: string } | { readonly answered: false }
