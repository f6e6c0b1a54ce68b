import type { PlannedMoveAdmission } from '@spout/admission/contract'
import type { Clock, Logger, Timer } from '@spout/runtime'

export interface BegunMovesOptions {
  readonly admission: PlannedMoveAdmission
  readonly clock: Clock
  readonly log: Logger
  /** Called with the id of the group after a write failed, once it is time to try again. */
  readonly onFailed: (groupId: string) => void
}

/** Pause after a write that failed. */
const RETRY_AFTER_MS = 1000

/**
 * Stores which drains and moves of shards have begun. A node is told to give up addresses only once that is stored, so
 * after a restart of the control plane no drain waits that had begun, and none is begun anew.
 */
export class BegunMoves {
  readonly #options: BegunMovesOptions
  /** Drains and moves whose write is under way, or failed just now. */
  readonly #writing = new Set<string>()
  readonly #timers = new Set<Timer>()
  #closed = false

  constructor(options: BegunMovesOptions) {
    this.#options = options
  }

  /** Harmless while the same drain is being stored. When it is stored, the node changes in the view. */
  beginDrain(groupId: string, nodeId: string, drainedSince: string): void {
    this.#write(groupId, `${nodeId} ${drainedSince}`, (to) => to.beginDrain(nodeId, drainedSince))
  }

  /** Harmless while the same move is being stored. When it is stored, the group changes in the view. */
  beginMove(groupId: string, askedAt: string, shard: number): void {
    this.#write(groupId, `${groupId} ${askedAt} ${shard}`, (to) => to.beginMove(groupId, askedAt, shard))
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers) timer.clear()
    this.#timers.clear()
  }

  #write(groupId: string, key: string, write: (admission: PlannedMoveAdmission) => Promise<void>): void {
    if (this.#closed || this.#writing.has(key)) return
    this.#writing.add(key)
    void write(this.#options.admission).then(
      () => this.#writing.delete(key),
      (error: unknown) => this.#failed(groupId, key, error),
    )
  }

  #failed(groupId: string, key: string, error: unknown): void {
    if (this.#closed) return
    const { clock, log, onFailed } = this.#options
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ event: 'move-not-stored', groupId, reason }, 'a drain or a move waits, because it could not be stored')
    const timer = clock.setTimer(() => {
      this.#timers.delete(timer)
      this.#writing.delete(key)
      onFailed(groupId)
    }, RETRY_AFTER_MS)
    this.#timers.add(timer)
  }
}
