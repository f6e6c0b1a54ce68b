import { type Clock, systemClock } from '@spout/runtime'

/** An announcer's clock: what it waits for comes when the test says so. */
export class ManualClock {
  elapsedMs = 0
  timers: (() => void)[] = []

  readonly clock: Clock = {
    ...systemClock,
    monotonicMs: () => this.elapsedMs,
    setTimer: (callback) => {
      this.timers.push(callback)
      return { clear: () => this.timers.splice(this.timers.indexOf(callback) >>> 0, 1) }
    },
  }
}
