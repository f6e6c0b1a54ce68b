import { availableParallelism } from 'node:os'

/** What one tenant network may use of a node, for its clients and again for its members. */
export interface NetworkShares {
  readonly packetsPerSecond: number
  readonly bytesPerSecond: number
  /** New connections by TCP; half as many by other protocols (`newFlowRule`). */
  readonly newFlowsPerSecond: number
}

/** The same as configured on a node. Limits that cost processor time are per processor. */
export interface ShareSettings {
  readonly packetsPerProcessor: number
  readonly newFlowsPerProcessor: number
  readonly megabytesPerSecond: number
}

/**
 * About half of what a processor forwards, so that the packets of one network use at most half of a node; and a finite
 * byte limit above the speed of today's links.
 */
export const DEFAULT_SHARES: ShareSettings = {
  packetsPerProcessor: 250_000,
  newFlowsPerProcessor: 20_000,
  megabytesPerSecond: 5_000,
}

/** @param processors number of processors of the node */
export const networkShares = (settings = DEFAULT_SHARES, processors = availableParallelism()): NetworkShares => ({
  packetsPerSecond: settings.packetsPerProcessor * processors,
  bytesPerSecond: settings.megabytesPerSecond * 1_000_000,
  newFlowsPerSecond: settings.newFlowsPerProcessor * processors,
})
