import type { SecondChance as Settings } from '@spout/model/node-state'
import type { Clock } from '@spout/runtime'
import type { Log } from '@spout/sys'
import { ProxyDrain } from './proxy-drain.ts'

/** `DrainedProxies` for the proxies of some domains. */
export interface ProxiesByDomain {
  closeGracefully(since: string, domains: ReadonlySet<number>): Promise<void>
  busy(domains: ReadonlySet<number>): Promise<number>
  closeRemaining(domains: ReadonlySet<number>): Promise<void>
}

export interface ShardProxyDrainsOptions {
  readonly proxies: ProxiesByDomain
  readonly log: Log
  readonly clock?: Clock
}

/** Asks which shards this node still owns. */
export interface ShardOwnershipProbe {
  /** Whether another node is known to own the shard. */
  readonly hasReleased: (shard: number) => boolean
  /** Numbers of the domains whose addresses follow the shard now. */
  readonly domainsOf: (shard: number) => ReadonlySet<number>
}

/**
 * One proxy drain for each shard that a node hands over while it stays in service (`SecondChance.handedOver`). A tenant
 * network is in one shard, so its proxy drains when that shard has moved. Other proxies are not affected.
 */
export class ShardProxyDrains {
  readonly #given: ShardProxyDrainsOptions
  readonly #byShard = new Map<number, ProxyDrain>()

  constructor(given: ShardProxyDrainsOptions) {
    this.#given = given
  }

  /** Drains the shards in `settings.handedOver`, each once it has moved. Returns at once. */
  configure(settings: Settings | null, probe: ShardOwnershipProbe): void {
    const { shards = [], since = null } = settings?.handedOver ?? {}
    for (const shard of shards) if (!this.#byShard.has(shard)) this.#byShard.set(shard, this.#begin(shard, probe))
    for (const [shard, drain] of this.#byShard) {
      const hasReleased = async () => probe.hasReleased(shard)
      const own = settings === null || !shards.includes(shard) ? null : { ...settings, leavingSince: since }
      drain.configure(own, { hasReleased, ownsNothing: hasReleased })
    }
  }

  /** Stops waiting. Connections stay open for the next agent. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#byShard.values(), (drain) => drain.close()))
  }

  #begin(shard: number, { domainsOf }: ShardOwnershipProbe): ProxyDrain {
    const { proxies, ...options } = this.#given
    return new ProxyDrain({
      ...options,
      proxies: {
        closeGracefully: (since) => proxies.closeGracefully(since, domainsOf(shard)),
        busy: () => proxies.busy(domainsOf(shard)),
        closeRemaining: () => proxies.closeRemaining(domainsOf(shard)),
      },
    })
  }
}
