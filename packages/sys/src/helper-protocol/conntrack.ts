// Requests and replies of `spout-helper` about the connection table.
// docs/design/0002-native-helper.md describes each op.

import type { InNetns } from './in-netns.ts'

/**
 * For each request the kernel walks over the flows of all namespaces at least once, so services that lose flows at the
 * same time belong in one request.
 */
export interface ConntrackDelete extends InNetns {
  readonly services: readonly ServiceFlows[]
}

/** Flows to a service, all of them or some. */
export interface ServiceFlows {
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  /** The destination of clients: the VIP. */
  readonly destination: string
  readonly port: number
  /** Only flows whose other end is one of these endpoints; absent: all. */
  readonly members?: readonly FlowEnd[]
  /** Only TCP flows that cannot carry data: not established yet, or closed. Default false. */
  readonly unestablished?: boolean
}

export interface FlowEnd {
  readonly address: string
  readonly port: number
}

/** The connection table of one namespace. */
export interface ConntrackCount {
  readonly flows: number
  /** Sysctl `net.netfilter.nf_conntrack_max`, which applies to each namespace separately; 0 is no limit. */
  readonly most: number
}
