import type { VrrpShard } from '@spout/model/node-state'
import type { Log } from '@spout/sys'

export interface HandOversOptions {
  /** `VrrpAnnouncer.handOver`. */
  readonly handOver: (shard: number, signal: AbortSignal) => Promise<void>
  readonly log: Log
}

/** Planned moves of shards away from this node. Each is made once, however often it is ordered. */
export class HandOvers {
  readonly #options: HandOversOptions
  readonly #closing = new AbortController()
  /** The newest order, by shard. */
  readonly #told = new Map<number, string>()
  readonly #underWay = new Set<number>()

  constructor(options: HandOversOptions) {
    this.#options = options
  }

  isUnderWay(shard: number): boolean {
    return this.#underWay.has(shard)
  }

  /** Starts new orders without waiting for them. */
  begin(shards: readonly Pick<VrrpShard, 'number' | 'handOver'>[]): void {
    for (const { number, handOver } of shards) {
      if (handOver === undefined || this.#told.get(number) === handOver) continue
      this.#told.set(number, handOver)
      void this.#make(number)
    }
  }

  close(): void {
    this.#closing.abort()
  }

  async #make(shard: number): Promise<void> {
    const { handOver, log } = this.#options
    this.#underWay.add(shard)
    try {
      await handOver(shard, this.#closing.signal)
    } catch (error) {
      log.warn({ shard, error: String(error) }, 'a shard was not handed over')
    } finally {
      this.#underWay.delete(shard)
    }
  }
}
