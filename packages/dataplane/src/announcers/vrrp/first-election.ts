import type { VrrpShard } from '@spout/model/node-state'
import type { Clock, Timer } from '@spout/runtime'
import type { GiveUp } from './give-up.ts'

const HIGHEST_PRIORITY = 254
/** 2 s between the highest priority and the lowest: nodes of a group do not start in the same instant. */
const WAIT_PER_POINT_MS = 8

/**
 * Nobody is preempted, so who is there first stays. A node that has just booted therefore waits before it takes part
 * in a shard, the longer the lower its priority: so the shards of a group that starts spread as they were dealt.
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

  /** Nobody is kept waiting by an agent that has gone. */
  end(): void {
    for (const [number, timer] of this.#waiting) {
      timer.clear()
      this.#giveUp.hold(number, false)
    }
    this.#waiting.clear()
  }
}
