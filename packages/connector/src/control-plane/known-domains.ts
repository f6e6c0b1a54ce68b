import { isDeepStrictEqual } from 'node:util'
import { keepWatching } from '@spout/client/keep-watching'
import type { Clock, Logger } from '@spout/runtime'
import type { LoadBalancerService } from './load-balancer-service.ts'

export interface KnownDomainsOptions {
  readonly service: Pick<LoadBalancerService, 'watchDomains'>
  readonly clock: Clock
  readonly log: Logger
  /** Called when the domains have changed. */
  readonly onChange: () => void
}

/** The project's domains, kept up to date by a watch. Its load balancers may have names below these. */
export class KnownDomains {
  readonly #options: KnownDomainsOptions
  #known: readonly string[] | null = null

  constructor(options: KnownDomainsOptions) {
    this.#options = options
  }

  get listed(): boolean {
    return this.#known !== null
  }

  get all(): readonly string[] {
    return this.#known ?? []
  }

  /** Follows the watch until `signal` aborts. A broken watch is started again. */
  async follow(signal: AbortSignal): Promise<void> {
    const { service, clock, log, onChange } = this.#options
    const watch = async (resetPauses: () => void) => {
      for await (const domains of service.watchDomains(signal)) {
        resetPauses()
        if (isDeepStrictEqual(this.#known, domains)) continue
        this.#known = domains
        onChange()
      }
    }
    const meanwhile = 'domains are as they were last seen'
    await keepWatching(watch, { path: '/projects', meanwhile, clock, log, signal })
  }
}
