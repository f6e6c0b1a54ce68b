import { systemClock } from '@spout/runtime/clock'
import { Mutex } from '@spout/runtime/mutex'
import { HelperChannel, type Reply } from './helper-channel.ts'
import { HelperError, HelperLost } from './helper-protocol/errors.ts'
import type { Log } from './log.ts'
import { Supervisor } from './supervisor.ts'

const PROTOCOL_VERSION = 1

export interface NativeHelperOptions {
  /** The executable. */
  readonly path: string
  readonly log: Log
  /**
   * Maximum of `connect`, `ping`, `udp`, `sctp` and `arp-probe` requests at the helper at a time; others wait. Default
   * 4096.
   */
  readonly maxProbes?: number
}

/**
 * The process of the native helper. When it dies, calls in progress, and calls before it is back, reject with
 * `HelperLost`; it is started again.
 */
export class HelperProcess {
  readonly #options: NativeHelperOptions
  readonly #onEvent: (event: Reply) => void
  readonly #listeners = new Set<() => void | Promise<void>>()
  readonly #supervisor: Supervisor
  #channel: HelperChannel | null = null
  #closed = false

  private constructor(options: NativeHelperOptions, onEvent: (event: Reply) => void) {
    this.#options = options
    this.#onEvent = onEvent
    this.#supervisor = new Supervisor({
      name: 'native helper',
      log: options.log,
      clock: systemClock,
      mutex: new Mutex(),
      start: () => this.#reopen(),
    })
  }

  /**
   * Starts the helper and checks its protocol version. Rejects if it cannot be started.
   * @param onEvent called with what the helper says without being asked
   */
  static async start(options: NativeHelperOptions, onEvent: (event: Reply) => void): Promise<HelperProcess> {
    const helper = new HelperProcess(options, onEvent)
    await helper.#open()
    return helper
  }

  /** The helper's process id; null while it is not running. */
  get pid(): number | null {
    return this.#channel?.pid ?? null
  }

  /** Calls the listener whenever a new helper process has replaced a dead one. @returns a function that unsubscribes */
  onRestart(listener: () => void | Promise<void>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends the helper. Calls in progress reject with `HelperLost`. */
  async close(): Promise<void> {
    this.#closed = true
    this.#supervisor.close()
    await this.#channel?.close()
  }

  /** The connection to the running process. @throws HelperLost while there is none */
  get channel(): HelperChannel {
    if (this.#channel === null) throw new HelperLost('the native helper is not running')
    return this.#channel
  }

  async #open(): Promise<void> {
    const channel = HelperChannel.spawn(
      this.#options.path,
      this.#options.log,
      this.#options.maxProbes ?? 4096,
      this.#onEvent,
    )
    try {
      const { version } = await channel.call('hello', {})
      if (version !== PROTOCOL_VERSION)
        throw new HelperError(`the native helper speaks protocol ${version}, not ${PROTOCOL_VERSION}`)
    } catch (error) {
      await channel.close()
      throw error
    }
    if (this.#closed) return channel.close()
    this.#channel = channel
    this.#supervisor.started()
    channel.onLost((reason) => {
      this.#channel = null
      this.#supervisor.lost({ reason })
    })
  }

  async #reopen(): Promise<void> {
    await this.#open()
    if (this.#closed) return
    this.#options.log.info({ pid: this.pid }, 'the native helper was restarted')
    // One that hangs must not keep the next restart waiting.
    void this.#tellRestart()
  }

  async #tellRestart(): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener()
      } catch (error) {
        this.#options.log.warn({ error: String(error) }, 'a restart listener of the native helper failed')
      }
    }
  }
}
