import { keepWatching } from '@spout/client/keep-watching'
import type { Clock, Logger } from '@spout/runtime'
import type { KnownPool } from '../addresses/address-choice.ts'
import type { LoadBalancerService } from './load-balancer-service.ts'

const FRESH_MS = 2000

export interface KnownPoolsOptions {
  readonly service: Pick<LoadBalancerService, 'addressPools' | 'poolChanges'>
  readonly clock: Clock
  readonly log: Logger
  /** Called when the pools have changed, or may have: an address that was refused may be available. */
  readonly onChange: () => void
}

/**
 * The address pools that the project may use. They are read on demand; a watch only tells when they may have changed.
 */
export class KnownPools {
  readonly #options: KnownPoolsOptions
  #pools: { readonly pools: Promise<readonly KnownPool[]>; readonly untilMs: number } | null = null

  constructor(options: KnownPoolsOptions) {
    this.#options = options
  }

  /** The pools, at most two seconds old. Concurrent callers share one call. */
  fresh(): Promise<readonly KnownPool[]> {
    const { clock, service } = this.#options
    if (this.#pools === null || this.#pools.untilMs <= clock.monotonicMs()) {
      const pools = service.addressPools()
      this.#pools = { pools, untilMs: clock.monotonicMs() + FRESH_MS }
      pools.catch(() => {
        this.#pools = null
      })
    }
    return this.#pools.pools
  }

  /** Follows the watch until `signal` aborts. A broken watch is started again. */
  async follow(signal: AbortSignal): Promise<void> {
    const { service, clock, log, onChange } = this.#options
    const watch = async (resetPauses: () => void) => {
      for await (const _ of service.poolChanges(signal)) {
        resetPauses()
        this.#pools = null
        onChange()
      }
    }
    const meanwhile = 'refused requests are tried again periodically'
    await keepWatching(watch, { path: '/address-pools', meanwhile, clock, log, signal })
  }
}
