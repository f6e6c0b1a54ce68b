import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Answered, Asked } from '../programs/event-readers.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../programs/event-readers.ts')

/** Pages of an administrator, of which there are only their streams of events: a process of its own reads them. */
export class EventReaders implements Disposable {
  readonly #program: ChildProcess

  private constructor(program: ChildProcess) {
    this.#program = program
  }

  /** Resolves once all of them are open. */
  static async open(endpoint: string, token: string, count: number): Promise<EventReaders> {
    const readers = new EventReaders(fork(PROGRAM))
    readers.#ask({ open: count, port: Number(new URL(endpoint).port), token })
    await readers.#answer()
    return readers
  }

  /**
   * Waits until all have read a name. Begin before it can come.
   * @returns when the first of them had read each name, by name; in ms on CLOCK_MONOTONIC
   */
  async untilRead(name: string): Promise<ReadonlyMap<string, number>> {
    this.#ask({ watch: name })
    const said = await this.#answer()
    return new Map('readBy' in said ? said.readBy : [])
  }

  [Symbol.dispose](): void {
    this.#program.disconnect()
  }

  #ask(asked: Asked): void {
    this.#program.send(asked)
  }

  async #answer(): Promise<Answered> {
    const ended = new AbortController()
    try {
      return await Promise.race([
        once(this.#program, 'message', ended).then(([said]) => said as Answered),
        once(this.#program, 'exit', ended).then(() => Promise.reject(new Error('the readers have ended'))),
      ])
    } finally {
      ended.abort()
    }
  }
}
