import type { ScryptOptions } from 'node:crypto'
import { Worker } from 'node:worker_threads'

export interface Derivation {
  readonly password: string
  readonly salt: Uint8Array
  readonly keyBytes: number
  readonly options: ScryptOptions
}

interface Settle {
  readonly resolve: (key: Buffer) => void
  readonly reject: (error: unknown) => void
}

/** A thread costs some 10 MB. It ends after this time without logins. */
const IDLE_MS = 10_000

/**
 * Derives keys in a thread of lower priority, one at a time. Otherwise guessed passwords would take the processor from
 * the event loop, and so from all requests.
 */
export class ScryptThread {
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | null = null
  #settle: Settle | null = null

  get busy(): boolean {
    return this.#settle !== null
  }

  /** @throws Error when a derivation is under way, and scrypt's errors */
  derive(derivation: Derivation): Promise<Buffer> {
    if (this.#settle !== null) return Promise.reject(new Error('a key is being derived in this thread'))
    if (this.#idle !== null) clearTimeout(this.#idle)
    const worker = this.#worker ?? this.#start()
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      worker.ref()
      worker.postMessage(derivation)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./scrypt-worker.ts', import.meta.url))
    worker.on('message', (key: Uint8Array) => this.#finish((settle) => settle.resolve(Buffer.from(key))))
    worker.on('error', (error) => {
      this.#worker = null
      this.#finish((settle) => settle.reject(error))
    })
    this.#worker = worker
    return worker
  }

  #finish(how: (settle: Settle) => void): void {
    const settle = this.#settle
    this.#settle = null
    // The thread must not keep an ending process alive.
    this.#worker?.unref()
    this.#idle = setTimeout(() => {
      void this.#worker?.terminate()
      this.#worker = null
    }, IDLE_MS).unref()
    if (settle !== null) how(settle)
  }
}
