import type { CpuThrottling } from '@spout/sys'
import type { ShareSource, ShareUse } from '../../domain/shares/share-watch.ts'
import type { ProxyPlace } from './proxy-place.ts'

export interface ProcessorUseOptions {
  readonly place: (domain: { readonly number: number }) => ProxyPlace
  /** The throttling of this control group; null if the group does not exist or has no limit. */
  readonly throttling: (name: string) => Promise<CpuThrottling | null>
  /** The proxy's limit. */
  readonly processors: number
}

/** A proxy that is throttled in more than a tenth of this many periods wants more than its share. */
const PERIODS = 5
const HELD_UP = 0.1

/** Tells which proxies want more processor time than their share. */
export class ProcessorUse implements ShareSource {
  readonly #options: ProcessorUseOptions
  /** By domain. */
  readonly #last = new Map<number, CpuThrottling>()

  constructor(options: ProcessorUseOptions) {
    this.#options = options
  }

  async read(domain: number): Promise<readonly ShareUse[]> {
    const { place, throttling, processors } = this.#options
    const now = await throttling(place({ number: domain }).name)
    if (now === null) return []
    const last = this.#last.get(domain) ?? now
    this.#last.set(domain, now)
    const periods = now.periods - last.periods
    const isOver = periods >= PERIODS && now.throttled - last.throttled > periods * HELD_UP
    return [{ share: 'processors', limit: processors, used: null, refused: now.throttled, isOver }]
  }

  forget(domain: number): void {
    this.#last.delete(domain)
  }
}
