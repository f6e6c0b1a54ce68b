import type { NodeReport, NodeStateEntry } from '@spout/model'

/** One entry of a node's wanted state and the hash it is compared by (`entryHash`). */
export interface HashedEntry {
  readonly hash: string
  readonly entry: NodeStateEntry
}

/** What every node shall hold now. Implemented by the controllers, streamed to the nodes by the agent link. */
export interface NodeStates {
  entries(nodeId: string): Iterable<HashedEntry & { readonly key: string }>
  /** Null when the node shall not hold this key (any more). */
  get(nodeId: string, key: string): HashedEntry | null
  /** Calls back with the keys that changed or went for this node; returns the unsubscribe. Never called before `ready`. */
  onChange(nodeId: string, listener: (keys: readonly string[]) => void): () => void
  /** False until every node's state is worked out after a start: nothing may be streamed before (an empty set would clear nodes). */
  ready(): boolean
}

/** Where nodes' reports go. */
export interface ReportSink {
  /** `resend`: the session is not known here (the control plane restarted): the agent shall tell everything again. */
  report(nodeId: string, report: NodeReport): { readonly resend: boolean }
}
