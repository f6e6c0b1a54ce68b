import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, Timer } from '@spout/runtime'
import type { MoverShard, ShardStateName } from './mover-state.ts'

/**
 * keepalived adds this to every priority, which puts the node behind 32 others, whose priorities start at 254. Nodes
 * that lost their links together, because their switch failed, keep their order, and so the spread of the shards. A
 * larger penalty would delay a takeover by this node: each point is 1/256 of an advert's interval (skew, RFC 5798
 * section 6.1).
 */
const PENALTY = -32

export interface LinkDampingOptions {
  /** The file that keepalived tracks. */
  readonly file: string
  readonly clock: Clock
  /** How long a node stays behind all others after its link came back. */
  readonly dampMs: number
}

/**
 * Lowers the priority of a node whose link was lost below all others until the link has been up for a while. The node
 * still takes part and takes over if no other node can. Without this, a node whose switch port forwards no frames in
 * the first seconds of a link would believe that it is alone, become master, and with its higher priority take its
 * shards back at each flap.
 */
export class LinkDamping {
  readonly #options: LinkDampingOptions
  #last: ReadonlyMap<number, ShardStateName> = new Map()
  #timer: Timer | null = null

  constructor(options: LinkDampingOptions) {
    this.#options = options
  }

  /**
   * Creates the file before keepalived starts. What an earlier agent wrote stays until the link has been up for a
   * while.
   */
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
   * Takes the mover's current state of the shards.
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

  /** Leaves the file for the next agent. */
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
