import { isDeepStrictEqual } from 'node:util'
import { keepWatching } from '@spout/client/keep-watching'
import type { Clock, Logger } from '@spout/runtime'
import type { KnownNetwork } from '../addresses/reach.ts'
import type { LoadBalancerService } from './load-balancer-service.ts'

export interface KnownNetworksOptions {
  readonly service: Pick<LoadBalancerService, 'watchNetworks'>
  readonly clock: Clock
  readonly log: Logger
  /** Called when the subnets have changed. */
  readonly onChange: () => void
}

/** The project's networks, kept up to date by a watch. */
export class KnownNetworks {
  readonly #options: KnownNetworksOptions
  #known: { readonly networks: readonly KnownNetwork[]; readonly cidrs: readonly string[] } | null = null

  constructor(options: KnownNetworksOptions) {
    this.#options = options
  }

  /** Whether the first list is complete. */
  get listed(): boolean {
    return this.#known !== null
  }

  /** Stays the same array until names or subnets change. */
  get all(): readonly KnownNetwork[] {
    return this.#known?.networks ?? NONE
  }

  /** Follows the watch until `signal` aborts. A broken watch is started again. */
  async follow(signal: AbortSignal): Promise<void> {
    const { service, clock, log, onChange } = this.#options
    const watch = async (resetPauses: () => void) => {
      for await (const shown of service.watchNetworks(signal)) {
        resetPauses()
        const cidrs = shown.flatMap(({ id, name, cidrs }) => [id, name, ...cidrs])
        // Routes are not compared: they change with every node of a cluster, and do not matter here.
        if (this.#known !== null && isDeepStrictEqual(this.#known.cidrs, cidrs)) continue
        const networks = shown.map(({ id, name, families }): KnownNetwork => ({ id, name, families }))
        this.#known = { networks, cidrs }
        onChange()
      }
    }
    await keepWatching(watch, {
      path: '/networks',
      meanwhile: 'subnets are as they were last seen',
      clock,
      log,
      signal,
    })
  }
}

const NONE: readonly KnownNetwork[] = []
