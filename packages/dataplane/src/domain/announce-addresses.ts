import type { NativeHelper } from '@spout/sys'

/** A lost frame must not leave a neighbour with the old owner: three rounds, a second apart. */
const ROUNDS = 3
const INTERVAL_MS = 1000

/** Tells the segment that the addresses live here now. Resolves once the first round is out; the helper sends the others. */
export async function announceAddresses(
  helper: NativeHelper,
  at: { readonly netns?: string; readonly dev: string },
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length > 0) await helper.announce({ ...at, addresses, count: ROUNDS, intervalMs: INTERVAL_MS })
}

/** Stops the rounds still to come: the addresses are leaving. */
export async function stopAnnouncing(
  helper: NativeHelper,
  at: { readonly netns?: string; readonly dev: string },
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length > 0) await helper.announce({ ...at, addresses, count: 0, intervalMs: INTERVAL_MS })
}
