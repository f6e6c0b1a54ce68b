import { Worker } from 'node:worker_threads'
import type { Answer, Message, Outcome, SentWrite, Work, WriterOptions, WriterState } from './writer-messages.ts'

/** Called with each state that the thread reports, before the answer that it came with. */
type OnState = (state: WriterState) => void

/**
 * The thread that writes files, as the event loop sees it. All stores of the process share it, since starting a thread
 * costs more than opening a file.
 *
 * If it dies, which only a bug or a lack of memory can cause, the process ends with its error: nobody here knows then
 * what was stored, but the next start does.
 */
class WriterThread {
  readonly #worker = new Worker(new URL('./writer-thread.ts', import.meta.url))
  readonly #answers: ((answer: Answer) => void)[] = []
  readonly #stores = new Map<number, OnState>()
  #lastStore = 0

  constructor() {
    this.#worker.on('message', (message: Message) => this.#receive(message))
  }

  add(onState: OnState): number {
    this.#lastStore += 1
    this.#stores.set(this.#lastStore, onState)
    return this.#lastStore
  }

  remove(store: number): void {
    this.#stores.delete(store)
  }

  ask(store: number, work: Work): Promise<Answer> {
    return new Promise((resolve) => {
      this.#answers.push(resolve)
      this.#worker.ref()
      this.#worker.postMessage({ ...work, store })
    })
  }

  #receive(message: Message): void {
    this.#stores.get(message.store)?.(message.state)
    if (!('outcomes' in message)) return
    const answer = this.#answers.shift()
    // An open store does not keep an ending process alive.
    if (this.#answers.length === 0) this.#worker.unref()
    answer?.(message)
  }
}

let shared: WriterThread | null = null

/** Writes one file. Flushes, checkpoints and whatever else a disk may delay happen in a thread. */
export class Writer {
  readonly #thread: WriterThread
  readonly #store: number

  /** @throws Error with the reason why the file cannot be used */
  static async open(options: WriterOptions, onState: OnState): Promise<Writer> {
    shared ??= new WriterThread()
    const writer = new Writer(shared, shared.add(onState))
    const { error } = await writer.#ask({ op: 'open', options })
    if (error === null) return writer
    writer.#thread.remove(writer.#store)
    throw new Error(error)
  }

  private constructor(thread: WriterThread, store: number) {
    this.#thread = thread
    this.#store = store
  }

  /** @returns an outcome for each commit, in order, once it is durable or refused */
  async flush(batch: readonly (readonly SentWrite[])[]): Promise<readonly Outcome[]> {
    const { outcomes } = await this.#ask({ op: 'flush', batch })
    return outcomes
  }

  /** @returns why it failed; null when it is done */
  async compact(sequence: number): Promise<string | null> {
    const { error } = await this.#ask({ op: 'compact', sequence })
    return error
  }

  /** Tries whether a disk that failed works again. */
  async probe(): Promise<void> {
    await this.#ask({ op: 'probe' })
  }

  /** Checkpoints and releases the lock. */
  async close(): Promise<void> {
    await this.#ask({ op: 'close' })
    this.#thread.remove(this.#store)
  }

  #ask(work: Work): Promise<Answer> {
    return this.#thread.ask(this.#store, work)
  }
}
