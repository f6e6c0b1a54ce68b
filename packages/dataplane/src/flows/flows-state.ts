export interface DomainFlows {
  readonly domain: number
  /** Flows that this node carries, or did last. */
  readonly local: number
  /** Flows that others carry, held ready here. */
  readonly remote: number
  /** Flows of others that could not be held ready: this node has one of its own in their place. */
  readonly conflicts: number
  readonly error: string | null
}

export interface PeerFlows {
  readonly address: string
  /** Datagrams. */
  readonly sent: number
  readonly received: number
  readonly lost: number
  /** Without the key, out of order, or about what is not shared. */
  readonly refused: number
  /** Milliseconds since the epoch; null for never. */
  readonly lastHeardMs: number | null
}

/** The account of `spout-flows`: the file `state.json`. */
export interface FlowsState {
  readonly pid: number
  /** Why it cannot work as configured; null when it can. */
  readonly error: string | null
  /** Datagrams from no peer. */
  readonly strangers: number
  readonly domains: readonly DomainFlows[]
  readonly peers: readonly PeerFlows[]
}

/** Null for anything that is no such account. */
export function parseFlowsState(text: string): FlowsState | null {
  try {
    const state = JSON.parse(text) as FlowsState
    return Number.isSafeInteger(state.pid) && Array.isArray(state.domains) && Array.isArray(state.peers) ? state : null
  } catch {
    return null
  }
}
