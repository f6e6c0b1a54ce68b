import type { NodeReport, NodeStateEntry } from '@spout/model'

/** One entry of a node's wanted state, and the hash that identifies its version (`entryHash`). */
export interface HashedEntry {
  readonly hash: string
  readonly entry: NodeStateEntry
}

/** The wanted state of every node. The controllers implement it, the agent link streams it to the nodes. */
export interface NodeStates {
  entries(nodeId: string): Iterable<HashedEntry & { readonly key: string }>
  /** Null if the node should not have this key. */
  get(nodeId: string, key: string): HashedEntry | null
  /**
   * Calls back with the keys that changed or were removed for this node; returns the unsubscribe. Never called before
   * `ready`.
   */
  onChange(nodeId: string, listener: (keys: readonly string[]) => void): () => void
  /**
   * False until every node's state is planned after a start. Nothing may be streamed before: an empty set would clear
   * the nodes.
   */
  ready(): boolean
}

/** Receives the nodes' reports. */
export interface ReportSink {
  /** `resend` is true for an unknown session (the control plane restarted): the agent must report everything again. */
  report(nodeId: string, report: NodeReport): { readonly resend: boolean }
}
