import type { Clock, Timer } from '@spout/runtime'
import type { BgpSession } from './bgp-session.ts'

const LOOK_EVERY_MS = 1_000

/** Looks at the sessions once a second and tells its listeners when one of them means something else than before. */
export class SessionWatch {
  readonly #clock: Clock
  readonly #look: () => Promise<readonly BgpSession[]>
  readonly #listeners = new Set<(sessions: readonly BgpSession[]) => void>()
  #timer: Timer | null = null
  #meaning = ''
  #running = false

  constructor(clock: Clock, look: () => Promise<readonly BgpSession[]>) {
    this.#clock = clock
    this.#look = look
  }

  /** The listener must not throw. Returns the unsubscriber. */
  add(listener: (sessions: readonly BgpSession[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
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

  /** No session is left. */
  end(): void {
    this.stop()
    this.#tell([])
  }

  #next(): void {
    // One may have been set while the look that ends now was under way.
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
    for (const listener of this.#listeners) listener(sessions)
  }
}

/** A session that does not come up changes its state all the time: that is no news, the reason is. */
const meaningOf = ({ peerId, state, since, announced, lastError, bfd }: BgpSession) => {
  const up = state === 'established'
  return [peerId, up || state === 'stopped' ? state : 'not up', up ? since : '', announced, lastError, bfd]
}
