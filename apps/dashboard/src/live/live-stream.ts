import { Problem } from '../api/problem.ts'
import { backOffMs } from './back-off.ts'
import type { StreamEvent } from './event-splitter.ts'
import { readStream } from './read-stream.ts'

/** `ended`: the server gives this session no stream. */
export type LiveState = 'connecting' | 'live' | 'lost' | 'ended'

export interface StreamListener {
  readonly onEvent: (event: StreamEvent) => void
  readonly onState: (state: LiveState) => void
}

/** The page's stream of changes. It opens it again by itself, until the session ends or `stop` is called. */
export class LiveStream {
  readonly #stopped = new AbortController()
  readonly topics: readonly string[]
  #isOpen = false
  readonly #listener: StreamListener

  constructor(topics: readonly string[], listener: StreamListener) {
    this.topics = topics
    this.#listener = listener
  }

  async run(): Promise<void> {
    const { signal } = this.#stopped
    let failures = 0
    while (!signal.aborted) {
      try {
        for await (const event of readStream(this.topics, signal)) {
          if (event.name === 'hello') {
            failures = 0
            this.#isOpen = true
            this.#listener.onState('live')
          }
          if (event.name === 'end') return this.#end()
          this.#listener.onEvent(event)
        }
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof Problem && (error.status === 401 || error.status === 403)) return this.#end()
      }
      if (signal.aborted) return
      this.#isOpen = false
      failures++
      this.#listener.onState('lost')
      await pause(backOffMs(failures, Math.random()), signal)
    }
  }

  /** Whether it tells what changes now. */
  get isLive(): boolean {
    return this.#isOpen && !this.isStopped
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted
  }

  stop(): void {
    this.#stopped.abort()
  }

  #end(): void {
    this.#isOpen = false
    if (!this.isStopped) this.#listener.onState('ended')
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
