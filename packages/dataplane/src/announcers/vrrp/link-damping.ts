import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, Timer } from '@spout/runtime'
import type { MoverShard, ShardStateName } from './mover-state.ts'

/**
 * What keepalived adds to every priority: behind 32 others, which have priorities from 254 on. Nodes that lost their links
 * together, because their switch did, keep their order, and with it the spread of the shards. More would cost more when it
 * has to take over all the same: each point is 1/256 of an advert's interval (skew, RFC 5798 section 6.1).
 */
const PENALTY = -32

export interface LinkDampingOptions {
  /** keepalived tracks it. */
  readonly file: string
  readonly clock: Clock
  /** How long after its link came back a node stays behind all others. */
  readonly dampMs: number
}

/**
 * A node whose link was lost has a priority below all others until the link has held for a while. It takes part all the same, and
 * takes over when nobody else is there. Without this, a node whose switch port passes no frames in the first seconds of a
 * link believes that it is alone, becomes master, and with the higher priority takes its shards back at each flap.
 */
export class LinkDamping {
  readonly #options: LinkDampingOptions
  #last: ReadonlyMap<number, ShardStateName> = new Map()
  #timer: Timer | null = null

  constructor(options: LinkDampingOptions) {
    this.#options = options
  }

  /** Makes the file exist before keepalived looks; what an earlier agent wrote stays until the link has held. */
  prepare(): void {
    if (!existsSync(this.#options.file)) this.#write(0)
  }

  get damped(): boolean {
    try {
      return readFileSync(this.#options.file, 'utf8').trim() === String(PENALTY)
    } catch {
      return false
    }
  }

  /**
   * The shards as the mover tells them now.
   * @param gaveUp whether this node itself put a shard into fault
   */
  look(shards: readonly Pick<MoverShard, 'shard' | 'state'>[], gaveUp: (shard: number) => boolean): void {
    const down = shards.filter(({ shard, state }) => state === 'fault' && !gaveUp(shard))
    const lost = down.some(({ shard }) => ['master', 'backup'].includes(this.#last.get(shard) ?? ''))
    this.#last = new Map(shards.map(({ shard, state }) => [shard, state]))
    if (lost) {
      this.#wait(null)
      if (!this.damped) this.#write(PENALTY)
    } else if (down.length === 0 && shards.length > 0 && this.#timer === null && this.damped) {
      this.#wait(this.#options.clock.setTimer(() => this.#end(), this.#options.dampMs))
    }
  }

  /** The file stays as it is: the next agent goes on with it. */
  close(): void {
    this.#wait(null)
  }

  #end(): void {
    this.#timer = null
    this.#write(0)
  }

  #wait(timer: Timer | null): void {
    this.#timer?.clear()
    this.#timer = timer
  }

  #write(value: number): void {
    const { file } = this.#options
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${value}\n`, { mode: 0o600 })
  }
}
