import type { NodeConnection } from '@spout/model'

/** A node of the native API, as far as a move to another group depends on it. */
export interface LeavingNode {
  readonly scheduling: string
  readonly drainedSince: string | null
  readonly status: {
    readonly connection: NodeConnection
    readonly departure: { readonly since: string; readonly busyProxies: number | null } | null
  }
}

/** A node that drains reports its clients within this time. One that had no successor reports none. */
export const DEPARTURE_WITHIN_MS = 5000

/**
 * Whether a draining node may leave its group: others have its addresses, and its proxies have no clients left. What a
 * silent node has is not known, so it stays.
 * @param vips how many addresses it answers for
 * @param watchedMs for how long it has been seen draining
 */
export function hasLeft({ scheduling, drainedSince, status }: LeavingNode, vips: number, watchedMs: number): boolean {
  const { connection, departure } = status
  if (scheduling !== 'draining' || connection !== 'connected' || vips > 0) return false
  return departure?.since === drainedSince ? departure?.busyProxies === 0 : watchedMs >= DEPARTURE_WITHIN_MS
}
