import type { ModelView } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import type { Clock, Component, Logger, Timer } from '@spout/runtime'
import type { Store } from '@spout/store'

export interface SweeperOptions {
  readonly view: ModelView
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly everyMs?: number
}

interface Expired {
  readonly kind: 'address' | 'token' | 'enrolmentToken'
  readonly id: string
}

const EVERY_MS = 60_000
/** Limit of deletions in one sweep. After a sweep that reaches it, the next one begins at once. */
const SWEEP = 500

/** Deletes what has expired: addresses past their quarantine, tokens and enrolment tokens past their expiry. */
export class Sweeper implements Component {
  readonly name = 'sweeper'
  readonly #options: SweeperOptions
  #timer: Timer | null = null
  #sweeping: Promise<void> | null = null
  #stopped = false

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  start(): void {
    this.#later(this.#options.everyMs ?? EVERY_MS)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.clear()
    await this.#sweeping
  }

  /** @returns how many were deleted; at most `SWEEP` */
  async sweep(): Promise<number> {
    const { view, store, clock } = this.#options
    const now = clock.now().toISOString()
    let deleted = 0
    for (const { kind, id } of expired(view, now)) {
      if (deleted === SWEEP) break
      const stored = view.get(kind, id)
      if (stored === null) continue
      try {
        // Deletes only the version that was read: the address may have been taken again meanwhile.
        await store.commit([{ op: 'delete', kind, id, ifRevision: stored.revision }])
        deleted++
      } catch (error) {
        if (!(error instanceof SpoutError && (error.code === 'RevisionConflict' || error.code === 'NotFound')))
          throw error
      }
    }
    return deleted
  }

  #later(delayMs: number): void {
    if (this.#stopped) return
    this.#timer = this.#options.clock.setTimer(() => {
      this.#sweeping = this.#turn()
    }, delayMs)
  }

  async #turn(): Promise<void> {
    const { everyMs = EVERY_MS, log } = this.#options
    try {
      const deleted = await this.sweep()
      if (deleted > 0) log.info({ event: 'swept', deleted }, 'expired objects were deleted')
      this.#later(deleted === SWEEP ? 0 : everyMs)
    } catch (error) {
      log.warn({ event: 'sweep-failed', err: error }, 'expired objects were not deleted; will try again')
      this.#later(everyMs)
    }
  }
}

/** The expired objects. RFC 3339 times in UTC with milliseconds can be compared as texts. */
function* expired(view: ModelView, now: string): Iterable<Expired> {
  for (const { id, quarantineUntil } of view.list('address'))
    if (quarantineUntil !== null && quarantineUntil <= now) yield { kind: 'address', id }
  for (const { id, expiresAt } of view.list('token')) if (expiresAt <= now) yield { kind: 'token', id }
  for (const { id, expiresAt } of view.list('enrolmentToken'))
    if (expiresAt <= now) yield { kind: 'enrolmentToken', id }
}
