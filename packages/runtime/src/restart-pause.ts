const STABLE_MS = 1_000
const FIRST_MS = 20
const MOST_MS = 5_000

/**
 * How long to wait before a process of this machine is started again: not at all after a life of some length, else ever longer.
 * Without jitter, unlike `backoffMs`: nothing else comes back at the same time to the same server.
 */
export const restartPauseMs = (previousPauseMs: number, livedMs: number): number =>
  livedMs >= STABLE_MS ? 0 : Math.min(MOST_MS, previousPauseMs * 2 || FIRST_MS)
