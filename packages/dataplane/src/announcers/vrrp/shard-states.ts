import { LOCAL_SHARD } from '@spout/model/local-entries'
import { type Clock, Listeners } from '@spout/runtime'
import type { GiveUp } from './give-up.ts'
import type { MoverShard } from './mover-state.ts'
import { type ShardReport, shardReport, stoppedReport } from './shard-report.ts'
import type { StateFeed } from './state-feed.ts'
import type { WantedTable } from './wanted-table.ts'

export interface ShardStatesOptions {
  readonly table: Pick<WantedTable, 'table'>
  readonly feed: Pick<StateFeed, 'state'>
  readonly giveUp: Pick<GiveUp, 'unhealthy' | 'drained' | 'isHeld'>
  /** Whether keepalived runs with its mover. Otherwise the mover's state file is outdated. */
  readonly hasMover: () => boolean
  /** Whether the shard is given up for a planned move. */
  readonly isHandedOver: (shard: number) => boolean
  readonly clock: Clock
}

/** The state of this node's shards: what the mover reports, and why this node has given a shard up. */
export class ShardStates {
  /** Why this node cannot carry traffic, if it cannot. */
  unhealthyReason = 'unknown'
  readonly #options: ShardStatesOptions
  readonly #listeners = new Listeners<readonly ShardReport[]>()
  /** When the daemons last started or ended. */
  #changedMs: number
  /** The states that listeners were last called with, as a text to compare. */
  #told = ''

  constructor(options: ShardStatesOptions) {
    this.#options = options
    this.#changedMs = options.clock.now().getTime()
  }

  all(): readonly ShardReport[] {
    return Array.from(this.#options.table.table.routers.keys(), (number) => {
      const shard = this.#shard(number)
      return shard === null ? stoppedReport(number, this.#changedMs) : shardReport(shard, this.whyGivenUp(number))
    })
  }

  isMaster(shard: number): boolean {
    return this.#shard(shard)?.state === 'master'
  }

  /** Why this node has given the shard up; null if it takes part. */
  whyGivenUp(shard: number): string | null {
    const { giveUp, isHandedOver } = this.#options
    if (giveUp.unhealthy) return `unhealthy: ${this.unhealthyReason}`
    if (giveUp.drained && shard !== LOCAL_SHARD) return 'drained'
    if (!giveUp.isHeld(shard)) return null
    return isHandedOver(shard) ? 'rebalanced' : 'handed over'
  }

  /** Call when the daemons started or ended. */
  daemonsChanged(): void {
    this.#changedMs = this.#options.clock.now().getTime()
    this.review()
  }

  /** Calls the listeners if a state has changed. */
  review(): void {
    const shards = this.all()
    const told = JSON.stringify(shards)
    if (told === this.#told) return
    this.#told = told
    this.#listeners.tell(shards)
  }

  /** Calls the listener with all shards whenever one changes. @returns the unsubscribe function */
  onChange(listener: (shards: readonly ShardReport[]) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): void {
    this.#listeners.clear()
  }

  /** The running mover's state of a shard. */
  #shard(number: number): MoverShard | null {
    const { feed, hasMover } = this.#options
    if (feed.state === null || !hasMover()) return null
    return feed.state.shards.find(({ shard }) => shard === number) ?? null
  }
}
