const STABLE_MS = 1_000
const FIRST_MS = 20
const MOST_MS = 5_000

/**
 * The pause before a process of this machine is restarted: none if it ran for at least `STABLE_MS`, else longer each
 * time. It has no jitter, unlike `backoffMs`, because no other clients reconnect to the same server at the same time.
 */
export const restartPauseMs = (previousPauseMs: number, livedMs: number): number =>
  livedMs >= STABLE_MS ? 0 : Math.min(MOST_MS, previousPauseMs * 2 || FIRST_MS)
