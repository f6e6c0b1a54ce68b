import type { Writable } from 'node:stream'
import type { NodeStates } from '@spout/admission'
import type { Clock } from '@spout/runtime'

const HEARTBEAT_MS = 1000

/**
 * One node's state as NDJSON: first everything, then changes, a heartbeat each second.
 *
 * Only keys wait for a slow reader, each once, so what a stream costs does not grow with what changes meanwhile; what
 * is sent is the newest.
 */
export class StateStream {
  readonly #states: NodeStates
  readonly #nodeId: string
  readonly #out: Writable
  readonly #clock: Clock
  readonly #pending = new Set<string>()
  #heartbeat = false
  #ended = false
  #wake: (() => void) | null = null

  constructor(states: NodeStates, nodeId: string, out: Writable, clock: Clock) {
    this.#states = states
    this.#nodeId = nodeId
    this.#out = out
    this.#clock = clock
    out.on('close', () => this.end())
    out.on('error', () => this.end())
  }

  /** Writes until the reader goes or `end`. Never rejects for what the reader does. */
  async run(): Promise<void> {
    const unsubscribe = this.#states.onChange(this.#nodeId, (keys) => {
      for (const key of keys) this.#pending.add(key)
      this.#wake?.()
    })
    let timer = this.#clock.setTimer(() => {}, 0)
    const beat = () => {
      this.#heartbeat = true
      this.#wake?.()
      timer = this.#clock.setTimer(beat, HEARTBEAT_MS)
    }
    beat()
    try {
      await this.#writeAll()
      await this.#writeChanges()
    } finally {
      unsubscribe()
      timer.clear()
      this.#out.end()
    }
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async #writeAll(): Promise<void> {
    // A change while this is written also lies in `#pending` and is sent after it.
    for (const { hash, entry } of [...this.#states.entries(this.#nodeId)]) {
      if (this.#ended) return
      await this.#write({ type: 'put', hash, entry })
    }
    await this.#write({ type: 'synced' })
  }

  async #writeChanges(): Promise<void> {
    while (!this.#ended) {
      const key = first(this.#pending)
      if (key !== undefined) {
        this.#pending.delete(key)
        const held = this.#states.get(this.#nodeId, key)
        await this.#write(held === null ? { type: 'delete', key } : { type: 'put', hash: held.hash, entry: held.entry })
      } else if (this.#heartbeat) {
        this.#heartbeat = false
        await this.#write({ type: 'heartbeat' })
      } else await this.#sleep()
    }
  }

  async #write(line: unknown): Promise<void> {
    if (this.#ended || this.#out.write(`${JSON.stringify(line)}\n`)) return
    await new Promise<void>((resolve) => {
      this.#out.once('drain', resolve)
      this.#wake = () => {
        if (this.#ended) resolve()
      }
    })
    this.#wake = null
  }

  async #sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = null
  }
}

const first = (keys: Set<string>): string | undefined => {
  for (const key of keys) return key
  return undefined
}
