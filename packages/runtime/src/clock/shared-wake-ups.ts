import type { Clock, Timer } from './clock.ts'

const GRID_MS = 1000
/** At least this part of a delay passes. */
const SHORTEST = 0.1
/** The event loop rounds times to milliseconds, so its timers may fire early by this much. */
const EARLY_MS = 2

interface WakeUp {
  readonly atMs: number
  readonly callbacks: Set<() => void>
  readonly timer: Timer
}

const known = new WeakMap<Clock, SharedWakeUps>()

/** Of a clock there is one, so that all parts of a process share their wake-ups. */
export function sharedWakeUps(clock: Clock): Clock {
  const shared = known.get(clock) ?? new SharedWakeUps(clock)
  known.set(clock, shared)
  return shared
}

/**
 * A clock for work that is repeated. Its timers share wake-ups, since waking up is most of what an idle process costs:
 * they fire early rather than late, at whole seconds of the clock, so that work of different periods begins together.
 * Not for time-outs. Timers of less than a second fire at their own time.
 */
class SharedWakeUps implements Clock {
  readonly #clock: Clock
  /** By the time at which they are due. */
  readonly #wakeUps = new Map<number, WakeUp>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): Date {
    return this.#clock.now()
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    if (delayMs < GRID_MS) return this.#clock.setTimer(callback, delayMs)
    const wakeUp = this.#wakeUp(dueMs(this.#clock.monotonicMs(), delayMs))
    // Two timers may have the same callback.
    const own = () => callback()
    wakeUp.callbacks.add(own)
    return { clear: () => this.#drop(wakeUp, own) }
  }

  #wakeUp(atMs: number): WakeUp {
    const known = this.#wakeUps.get(atMs)
    if (known !== undefined) return known
    const callbacks = new Set<() => void>()
    const fire = () => {
      this.#wakeUps.delete(atMs)
      for (const callback of callbacks) callback()
    }
    const made = { atMs, callbacks, timer: this.#clock.setTimer(fire, Math.ceil(atMs - this.#clock.monotonicMs())) }
    this.#wakeUps.set(atMs, made)
    return made
  }

  #drop({ atMs, callbacks, timer }: WakeUp, callback: () => void): void {
    callbacks.delete(callback)
    if (callbacks.size > 0 || this.#wakeUps.get(atMs)?.callbacks !== callbacks) return
    timer.clear()
    this.#wakeUps.delete(atMs)
  }
}

/** The last whole second within the delay, or the next one if that would be too early. */
function dueMs(nowMs: number, delayMs: number): number {
  const atMs = Math.floor((nowMs + delayMs + EARLY_MS) / GRID_MS) * GRID_MS
  return atMs - nowMs < delayMs * SHORTEST ? atMs + GRID_MS : atMs
}
