import { type Clock, Listeners, type Timer } from '@spout/runtime'
import type { BgpSession } from './bgp-session.ts'

const LOOK_EVERY_MS = 1_000

/** Reads the sessions once a second and notifies listeners of relevant changes. */
export class SessionWatch {
  readonly #clock: Clock
  readonly #look: () => Promise<readonly BgpSession[]>
  readonly #listeners = new Listeners<readonly BgpSession[]>()
  #timer: Timer | null = null
  #meaning = ''
  #running = false

  constructor(clock: Clock, look: () => Promise<readonly BgpSession[]>) {
    this.#clock = clock
    this.#look = look
  }

  /** The listener must not throw. @returns a function that unsubscribes */
  add(listener: (sessions: readonly BgpSession[]) => void): () => void {
    return this.#listeners.add(listener)
  }

  start(): void {
    if (this.#running) return
    this.#running = true
    this.#next()
  }

  stop(): void {
    this.#running = false
    this.#timer?.clear()
  }

  /** There are no sessions any more. */
  end(): void {
    this.stop()
    this.#tell([])
  }

  #next(): void {
    // A waiter may have been added while the last read was in progress.
    this.#timer?.clear()
    if (this.#running) this.#timer = this.#clock.setTimer(() => void this.#turn(), LOOK_EVERY_MS)
  }

  async #turn(): Promise<void> {
    const sessions = await this.#look().catch(() => null)
    if (sessions !== null && this.#running) this.#tell(sessions)
    this.#next()
  }

  #tell(sessions: readonly BgpSession[]): void {
    const meaning = JSON.stringify(sessions.map(meaningOf))
    if (meaning === this.#meaning) return
    this.#meaning = meaning
    this.#listeners.tell(sessions)
  }
}

/**
 * The relevant part of a session. One that does not come up changes its state all the time; only its reason is news.
 */
const meaningOf = ({ peerId, state, since, announced, lastError, bfd }: BgpSession) => {
  const up = state === 'established'
  return [peerId, up || state === 'stopped' ? state : 'not up', up ? since : '', announced, lastError, bfd]
}
