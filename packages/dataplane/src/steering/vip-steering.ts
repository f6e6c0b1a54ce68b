import { Mutex } from '@spout/runtime'
import { HelperError, type Log, type NativeHelper } from '@spout/sys'
import type { Applied, EntryFollower, WantedEntry } from '../contracts/driver.ts'
import type { DomainConfig } from '../domain/domain-config.ts'
import { existingDomains } from '../domain/domain-names.ts'
import { LeftoversGrace } from '../domain/leftovers-grace.ts'
import { type SteeredEntry, VipRoutes } from './vip-routes.ts'

export interface VipSteeringOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  /** How long routes without an entry are kept after `adopt`. Default 30 s. */
  readonly leftoversGraceMs?: number
}

/** Steers packets for the VIPs of every entry into their domains, whichever driver serves them there. */
export class VipSteering implements EntryFollower {
  readonly name = 'vip-steering'
  readonly #config: DomainConfig
  readonly #log: Log
  readonly #routes: VipRoutes
  readonly #grace: LeftoversGrace
  readonly #mutex = new Mutex()

  constructor(options: VipSteeringOptions) {
    this.#config = options.config
    this.#log = options.log
    this.#routes = new VipRoutes(options)
    this.#grace = new LeftoversGrace(options)
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    return { transactions: this.#routes.counters.changes, reloads: 0 }
  }

  adopt(previous: readonly WantedEntry[]): Promise<void> {
    return this.#mutex.run(async () => {
      this.#grace.begin()
      await this.#routes.adopt(previous.map(steered), await existingDomains(this.#config))
    })
  }

  /** Routes all entries in one request. If the kernel refuses it, every given entry fails. */
  apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    return this.#mutex.run(async () => {
      try {
        await this.#routes.apply({ put: changes.put.map(steered), remove: changes.remove }, this.#grace.isOver)
        return []
      } catch (error) {
        this.#log.warn({ error: String(error) }, 'the kernel refused routes for VIPs')
        const message = error instanceof Error ? error.message : String(error)
        return changes.put.map(({ key }) => ({ key, state: 'failed', reason: 'SteeringFailed', message }))
      }
    })
  }

  observe(): Promise<readonly string[]> {
    return this.#mutex.run(async () => {
      const isWhole = await this.#routes.observe().catch((error: unknown) => {
        if (error instanceof HelperError) return false
        throw error
      })
      return isWhole ? [] : [...this.#routes.keys()]
    })
  }

  /** Leaves everything in force, since forwarding does not need the agent. */
  async close(): Promise<void> {
    await this.#mutex.idle()
  }
}

const steered = ({ key, entry: { domain, vips } }: WantedEntry): SteeredEntry => ({ key, domain, vips })
