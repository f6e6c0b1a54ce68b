import type { SecondChance as Settings } from '@spout/model/node-state'
import type { Clock } from '@spout/runtime'
import type { Log } from '@spout/sys'
import { Departure } from './departure.ts'

/** What is asked of the proxies of a shard's domains; as `LeavingProxies`, for these alone. */
export interface ProxiesByDomain {
  seeOff(since: string, domains: ReadonlySet<number>): Promise<void>
  busy(domains: ReadonlySet<number>): Promise<number>
  endLeft(domains: ReadonlySet<number>): Promise<void>
}

export interface ShardDeparturesOptions {
  readonly proxies: ProxiesByDomain
  readonly log: Log
  readonly clock?: Clock
}

/** What a node knows of its shards. */
export interface ShardWhereabouts {
  /** Whether the node is known to own nothing of the shard. */
  readonly gaveUp: (shard: number) => boolean
  /** Numbers of the domains whose addresses follow the shard, as they are now. */
  readonly domainsOf: (shard: number) => ReadonlySet<number>
}

/**
 * A departure for each shard that the node hands over while it stays (`SecondChance.handedOver`). A tenant network is in one
 * shard, so its proxy sees its clients off when that shard has gone; the others notice nothing.
 */
export class ShardDepartures {
  readonly #given: ShardDeparturesOptions
  readonly #byShard = new Map<number, Departure>()

  constructor(given: ShardDeparturesOptions) {
    this.#given = given
  }

  /** The node hands over what the settings say, from when it has given it up. Returns at once. */
  configure(settings: Settings | null, whereabouts: ShardWhereabouts): void {
    const { shards = [], since = null } = settings?.handedOver ?? {}
    for (const shard of shards) if (!this.#byShard.has(shard)) this.#byShard.set(shard, this.#begin(shard, whereabouts))
    for (const [shard, departure] of this.#byShard) {
      const gaveUp = async () => whereabouts.gaveUp(shard)
      const own = settings === null || !shards.includes(shard) ? null : { ...settings, leavingSince: since }
      departure.configure(own, { gaveUp, answersForNothing: gaveUp })
    }
  }

  /** What goes on without an agent goes on. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#byShard.values(), (departure) => departure.close()))
  }

  #begin(shard: number, { domainsOf }: ShardWhereabouts): Departure {
    const { proxies, ...options } = this.#given
    return new Departure({
      ...options,
      proxies: {
        seeOff: (since) => proxies.seeOff(since, domainsOf(shard)),
        busy: () => proxies.busy(domainsOf(shard)),
        endLeft: () => proxies.endLeft(domainsOf(shard)),
      },
    })
  }
}
