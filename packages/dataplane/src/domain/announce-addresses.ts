import type { NativeHelper } from '@spout/sys'

/** Three rounds, a second apart, so that a lost frame leaves no neighbour with the old owner. */
const ROUNDS = 3
const INTERVAL_MS = 1000

/** Announces addresses on the segment. Resolves when the first round is sent; the helper sends the others. */
export async function announceAddresses(
  helper: NativeHelper,
  at: { readonly netns?: string; readonly dev: string },
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length > 0) await helper.announce({ ...at, addresses, count: ROUNDS, intervalMs: INTERVAL_MS })
}

/** Cancels the remaining rounds, since the addresses are about to be withdrawn. */
export async function stopAnnouncing(
  helper: NativeHelper,
  at: { readonly netns?: string; readonly dev: string },
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length > 0) await helper.announce({ ...at, addresses, count: 0, intervalMs: INTERVAL_MS })
}
