import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Listeners } from '@spout/runtime'
import { type Log, readFileOrNull } from '@spout/sys'
import { type MoverState, parseMoverState } from './mover-state.ts'

/** Follows the mover's state. Reads the file whenever it is replaced. */
export class StateFeed {
  readonly #path: string
  readonly #log: Log
  readonly #listeners = new Listeners<MoverState | null>()
  #watcher: FSWatcher | null = null
  #reading: Promise<void> | null = null
  #again = false
  #text = ''
  #state: MoverState | null = null

  constructor(path: string, log: Log) {
    this.#path = path
    this.#log = log
  }

  get state(): MoverState | null {
    return this.#state
  }

  /** The directory must exist. */
  async open(): Promise<void> {
    if (this.#watcher === null) {
      const name = basename(this.#path)
      this.#watcher = watch(dirname(this.#path), { persistent: false }, (_, changed) => {
        if (changed === null || changed === name) void this.read()
      })
      this.#watcher.on('error', (error) =>
        this.#log.warn({ error: String(error) }, 'the state of the mover cannot be watched'),
      )
    }
    await this.read()
  }

  /** Reads the file now. If it changes meanwhile, it is read again. */
  read(): Promise<void> {
    this.#again = true
    this.#reading ??= this.#readWhileChanging().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  onChange(listener: (state: MoverState | null) => void): () => void {
    return this.#listeners.add(listener)
  }

  /**
   * Resolves with the first state that meets the condition. @throws Error with `what` after `withinMs`, or the signal's
   * reason
   */
  until(
    asked: (state: MoverState) => boolean,
    what: string,
    withinMs: number,
    signal?: AbortSignal,
  ): Promise<MoverState> {
    return new Promise((resolve, reject) => {
      const finish = (end: () => void) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        forget()
        end()
      }
      const look = (state: MoverState | null) => {
        if (state !== null && asked(state)) finish(() => resolve(state))
      }
      const abort = () => finish(() => reject(signal?.reason))
      const timer = setTimeout(() => finish(() => reject(new Error(`${what} within ${withinMs} ms`))), withinMs)
      const forget = this.onChange(look)
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      look(this.#state)
    })
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = null
    this.#listeners.clear()
  }

  async #readWhileChanging(): Promise<void> {
    while (this.#again) {
      this.#again = false
      const text = (await readFileOrNull(this.#path).catch(() => null))?.toString('utf8') ?? ''
      if (text === this.#text) continue
      this.#text = text
      this.#state = parseMoverState(text)
      this.#listeners.tell(this.#state)
    }
  }
}
