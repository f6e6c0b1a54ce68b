export interface DomainFlows {
  readonly domain: number
  /** Flows that this node carries: it holds the address that they are translated to. */
  readonly local: number
  /** Flows that others carry, held ready here. */
  readonly remote: number
  /** How often a flow of another could not be held ready: this node has one of its own in its place. */
  readonly refused: number
  /** How often another spoke of a flow that this node carries, which went by its own word. */
  readonly insisted: number
  /** How many another says that it carries, which are to be held ready here. A program of before an upgrade says nothing of these three. */
  readonly promised?: number
  /** Of those that another said it carried when their address came here, so many were not here. */
  readonly missed?: number
  /** The newest time that most were not; null for never. */
  readonly lastMiss?: Miss | null
  readonly error: string | null
}

export interface Miss {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  /** Flows that the other node had said it carried. */
  readonly expected: number
  readonly came: number
}

export interface PeerFlows {
  readonly address: string
  /** Since it was last heard, or named. */
  readonly silentMs: number
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
  /** Milliseconds since the epoch. */
  readonly writtenMs: number
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
