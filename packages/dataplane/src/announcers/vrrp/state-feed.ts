import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Listeners } from '@spout/runtime'
import { type Log, readKernelFile } from '@spout/sys'
import { type MoverState, parseMoverState } from './mover-state.ts'

/** Follows the mover's state. Reads the file whenever it is replaced. */
export class StateFeed {
  readonly #path: string
  readonly #log: Log
  readonly #listeners = new Listeners<MoverState | null>()
  #watcher: FSWatcher | null = null
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
        if (changed === null || changed === name) this.read()
      })
      this.#watcher.on('error', (error) =>
        this.#log.warn({ error: String(error) }, 'the state of the mover cannot be watched'),
      )
    }
    this.read()
  }

  /** Reads the file now. */
  read(): void {
    const text = readKernelFile(this.#path) ?? ''
    if (text === this.#text) return
    this.#text = text
    this.#state = parseMoverState(text)
    this.#listeners.tell(this.#state)
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
}
