import { availableParallelism } from 'node:os'

/** What one tenant network may take of a node, from its clients and again from its members. */
export interface NetworkShares {
  readonly packetsPerSecond: number
  readonly bytesPerSecond: number
  /** Connections that begin: TCP's SYN, and the first packet of every other flow that the kernel tracks. */
  readonly newFlowsPerSecond: number
}

/** The same as a node's owner says it: what costs processor time by the processor. */
export interface ShareSettings {
  readonly packetsPerProcessor: number
  readonly newFlowsPerProcessor: number
  readonly megabytesPerSecond: number
}

/**
 * About half of what a processor forwards, so that no network takes more than half of a node by its packets alone; and a
 * bound on bytes that is finite, and above the links of today.
 */
export const DEFAULT_SHARES: ShareSettings = {
  packetsPerProcessor: 250_000,
  newFlowsPerProcessor: 20_000,
  megabytesPerSecond: 5_000,
}

/** @param processors of the node */
export const networkShares = (settings = DEFAULT_SHARES, processors = availableParallelism()): NetworkShares => ({
  packetsPerSecond: settings.packetsPerProcessor * processors,
  bytesPerSecond: settings.megabytesPerSecond * 1_000_000,
  newFlowsPerSecond: settings.newFlowsPerProcessor * processors,
})
