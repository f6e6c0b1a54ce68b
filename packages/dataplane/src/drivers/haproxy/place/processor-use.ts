import type { CpuThrottling } from '@spout/sys'
import type { ShareSource, ShareUse } from '../../../domain/shares/share-watch.ts'
import { ownerIn } from './proxy-place.ts'
import type { ProxyPlaces } from './proxy-share.ts'

export interface ProcessorUseOptions {
  readonly places: ProxyPlaces
  /** The throttling of this control group; null if the group does not exist or has no limit. */
  readonly throttling: (name: string) => Promise<CpuThrottling | null>
  /** The limit of proxies that have none of their own. */
  readonly processors: number
}

/** A proxy that is throttled in more than a tenth of this many periods wants more than its share. */
const PERIODS = 5
const HELD_UP = 0.1

/** Tells which proxies want more processor time than their share. */
export class ProcessorUse implements ShareSource {
  readonly #options: ProcessorUseOptions
  /** By domain, then by name of the proxy. */
  readonly #last = new Map<number, ReadonlyMap<string, CpuThrottling>>()

  constructor(options: ProcessorUseOptions) {
    this.#options = options
  }

  async read(domain: number): Promise<readonly ShareUse[]> {
    const { places, throttling, processors } = this.#options
    const uses: ShareUse[] = []
    const read = new Map<string, CpuThrottling>()
    for (const place of places(domain)) {
      const now = await throttling(place.name)
      if (now === null) continue
      read.set(place.name, now)
      const last = this.#last.get(domain)?.get(place.name) ?? now
      const periods = now.periods - last.periods
      const isOver = periods >= PERIODS && now.throttled - last.throttled > periods * HELD_UP
      const limit = place.dedicated?.limits.processors ?? processors
      uses.push({ share: 'processors', ...ownerIn(place), limit, used: null, refused: now.throttled, isOver })
    }
    this.#last.set(domain, read)
    return uses
  }

  forget(domain: number): void {
    this.#last.delete(domain)
  }
}
