import { HelperLost } from './helper-protocol/errors.ts'
import type { NativeHelper } from './native-helper.ts'

export interface ExitListeners {
  /** A process that is followed has ended. */
  readonly onExit: (pid: number) => void
  /** The ends of some that are followed are not told any more: the native helper died. */
  readonly onUnknown: () => void
}

/** Tells the ends of processes when they come, so that nobody needs to look. The processes need not be children. */
export class ExitWatch {
  readonly #helper: Pick<NativeHelper, 'awaitExit'>
  readonly #listeners: ExitListeners
  readonly #awaited = new Set<number>()
  #followed: ReadonlySet<number> = new Set()
  /** The kernel cannot tell ends. */
  #refused = false

  constructor(helper: Pick<NativeHelper, 'awaitExit'>, listeners: ExitListeners) {
    this.#helper = helper
    this.#listeners = listeners
  }

  /** Tells from now on the ends of exactly these processes, which run. */
  follow(pids: readonly number[]): void {
    this.#followed = new Set(pids)
    for (const pid of pids) if (!this.#awaited.has(pid) && !this.#refused) void this.#await(pid)
  }

  /** Whether the end of this process will be told. */
  tells(pid: number | undefined): boolean {
    return pid !== undefined && this.#followed.has(pid) && this.#awaited.has(pid)
  }

  async #await(pid: number): Promise<void> {
    this.#awaited.add(pid)
    try {
      await this.#helper.awaitExit({ pid })
      this.#awaited.delete(pid)
      if (this.#followed.has(pid)) this.#listeners.onExit(pid)
    } catch (error) {
      this.#awaited.delete(pid)
      this.#refused ||= !(error instanceof HelperLost)
      if (this.#followed.has(pid)) this.#listeners.onUnknown()
    }
  }
}
