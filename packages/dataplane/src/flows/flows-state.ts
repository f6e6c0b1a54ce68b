export interface DomainFlows {
  readonly domain: number
  /** Flows that this node carries: it holds the address that they are translated to. */
  readonly local: number
  /** Flows of other nodes, replicated here. */
  readonly remote: number
  /** Flows of other nodes that could not be replicated, since this node has a flow with the same tuple. */
  readonly refused: number
  /** Records of other nodes about flows that this node carries; its own state prevailed. */
  readonly insisted: number
  /**
   * Flows that other nodes carry and that should be replicated here. An older program leaves out these three fields.
   */
  readonly promised?: number
  /** Flows of those that were missing here when their address moved to this node. */
  readonly missed?: number
  /** The last time when most of them were missing; null for never. */
  readonly lastMiss?: Miss | null
  readonly error: string | null
}

export interface Miss {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  /** Flows that the other node carried by its own count. */
  readonly expected: number
  readonly came: number
}

export interface PeerFlows {
  readonly address: string
  /** Time since it was last heard or configured. */
  readonly silentMs: number
  /** Datagrams. */
  readonly sent: number
  readonly received: number
  readonly lost: number
  /** Datagrams without the key, out of order, or about a domain that is not shared. */
  readonly refused: number
  /** Milliseconds since the epoch; null for never. */
  readonly lastHeardMs: number | null
}

/** The state of `spout-flows`, its file `state.json`. */
export interface FlowsState {
  readonly pid: number
  /** Milliseconds since the epoch. */
  readonly writtenMs: number
  /** Why it cannot work as configured; null if it can. */
  readonly error: string | null
  /** Datagrams from addresses that are no peer. */
  readonly strangers: number
  readonly domains: readonly DomainFlows[]
  readonly peers: readonly PeerFlows[]
}

/** Null for any other text. */
export function parseFlowsState(text: string): FlowsState | null {
  try {
    const state = JSON.parse(text) as FlowsState
    return Number.isSafeInteger(state.pid) &&
      Number.isFinite(state.writtenMs) &&
      Array.isArray(state.domains) &&
      Array.isArray(state.peers)
      ? state
      : null
  } catch {
    return null
  }
}
