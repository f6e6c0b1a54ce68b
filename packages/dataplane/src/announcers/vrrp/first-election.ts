import type { VrrpShard } from '@spout/model/node-state'
import type { Clock, Timer } from '@spout/runtime'
import type { GiveUp } from './give-up.ts'

const HIGHEST_PRIORITY = 254
/** 2 s between the highest and the lowest priority, since nodes of a group do not start at the same instant. */
const WAIT_PER_POINT_MS = 8

/**
 * There is no preemption, so the first node keeps a shard. A node that has just booted waits before it takes part in a
 * shard, longer with a lower priority. So when a whole group starts, its shards spread as planned.
 */
export class FirstElection {
  readonly #giveUp: GiveUp
  readonly #clock: Clock
  readonly #waiting = new Map<number, Timer>()

  constructor(giveUp: GiveUp, clock: Clock) {
    this.#giveUp = giveUp
    this.#clock = clock
  }

  begin(shards: readonly VrrpShard[]): void {
    for (const { number, priority } of shards) {
      this.#giveUp.hold(number, true)
      const release = () => {
        this.#waiting.delete(number)
        this.#giveUp.hold(number, false)
      }
      this.#waiting.set(number, this.#clock.setTimer(release, (HIGHEST_PRIORITY - priority) * WAIT_PER_POINT_MS))
    }
  }

  /** Ends the wait, since no agent would end it later. */
  end(): void {
    for (const [number, timer] of this.#waiting) {
      timer.clear()
      this.#giveUp.hold(number, false)
    }
    this.#waiting.clear()
  }
}
