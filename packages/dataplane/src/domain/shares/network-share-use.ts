import type { NativeHelper } from '@spout/sys'
import { SEGMENT, UPLINK } from '../domain-names.ts'
import { GUARD_TABLE } from '../guard.ts'
import type { NetworkShares } from './network-shares.ts'
import type { ShareUse } from './share-watch.ts'
import { REFUSALS, REFUSED_SET, SHARES_TABLE } from './shares-table.ts'

const MARK_BYTES = 4
const KEYS = Object.values(REFUSALS)
/** At this fill the kernel already evicts flows for new ones. */
const NEARLY_FULL = 0.95

interface Passed {
  readonly atMs: number
  /** Through the uplink and through the segment. */
  readonly packets: readonly [number, number]
  readonly bytes: readonly [number, number]
}

/** Reads how much tenant networks use of their shares of packets, bytes and flows, and how much was refused. */
export class NetworkShareUse {
  readonly #helper: NativeHelper
  readonly #shares: NetworkShares
  readonly #now: () => number
  /** By namespace. */
  readonly #passed = new Map<string, Passed>()

  constructor(options: { readonly helper: NativeHelper; readonly shares: NetworkShares; readonly now?: () => number }) {
    this.#helper = options.helper
    this.#shares = options.shares
    this.#now = options.now ?? (() => performance.now())
  }

  /** @param netns path of the domain's namespace @throws HelperError if the namespace or its interfaces do not exist */
  async read(netns: string): Promise<readonly ShareUse[]> {
    const arrived = await this.#refused({ netns, family: 'netdev', table: SHARES_TABLE })
    const begun = await this.#refused({ netns, family: 'inet', table: GUARD_TABLE })
    const { flows, most } = await this.#helper.conntrackCount({ netns })
    const rates = await this.#rates(netns)
    const { packetsPerSecond, bytesPerSecond, newFlowsPerSecond } = this.#shares
    return [
      { share: 'packets', limit: packetsPerSecond, used: rates.packets, refused: arrived.packets },
      { share: 'bytes', limit: bytesPerSecond, used: rates.bytes, refused: arrived.bytes },
      { share: 'new-flows', limit: newFlowsPerSecond, used: null, refused: arrived['new-flows'] + begun['new-flows'] },
      { share: 'flows', limit: most, used: flows, refused: null, isOver: most > 0 && flows >= most * NEARLY_FULL },
    ]
  }

  /** The domain was removed. */
  forget(netns: string): void {
    this.#passed.delete(netns)
  }

  async #refused(table: {
    readonly netns: string
    readonly family: 'netdev' | 'inet'
    readonly table: string
  }): Promise<Readonly<Record<keyof typeof REFUSALS, number>>> {
    const keys = new Uint8Array(Uint32Array.from(KEYS).buffer)
    const counts = await this.#helper.nftCounters({ ...table, set: REFUSED_SET, keyBytes: MARK_BYTES, keys })
    const of = (share: keyof typeof REFUSALS) => counts[KEYS.indexOf(REFUSALS[share])]?.packets ?? 0
    return { packets: of('packets'), bytes: of('bytes'), 'new-flows': of('new-flows') }
  }

  /** Per second, of the busier side; null at the first read. */
  async #rates(netns: string): Promise<{ readonly packets: number | null; readonly bytes: number | null }> {
    const uplink = await this.#helper.traffic({ netns, dev: UPLINK })
    const segment = await this.#helper.traffic({ netns, dev: SEGMENT })
    const before = this.#passed.get(netns)
    const now: Passed = {
      atMs: this.#now(),
      packets: [uplink.packetsIn, segment.packetsIn],
      bytes: [uplink.bytesIn, segment.bytesIn],
    }
    this.#passed.set(netns, now)
    if (before === undefined || now.atMs <= before.atMs) return { packets: null, bytes: null }
    const seconds = (now.atMs - before.atMs) / 1000
    const rate = (of: 'packets' | 'bytes') =>
      Math.max(0, ...[0, 1].map((side) => (now[of][side]! - before[of][side]!) / seconds))
    return { packets: rate('packets'), bytes: rate('bytes') }
  }
}
