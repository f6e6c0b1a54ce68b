import type { Writable } from 'node:stream'
import type { HashedEntry, NodeStates } from '@spout/admission/contract'
import { editsBetween, isLargeEntry } from '@spout/model'
import type { Clock } from '@spout/runtime'

export interface StateStreamOptions {
  readonly states: NodeStates
  readonly nodeId: string
  readonly out: Writable
  readonly clock: Clock
  /** Whether the agent understands lines of type `edit`. */
  readonly takesEdits: boolean
}

const HEARTBEAT_MS = 1000
/** How much is written together. The rest waits until the reader has taken it. */
const CHARACTERS_TOGETHER = 65_536

const lineText = (line: object): string => `${JSON.stringify(line)}\n`

/**
 * Streams one node's state as NDJSON: first everything, then changes, and a heartbeat each second.
 *
 * For a slow reader only keys are queued, each once, and the newest version is sent. So a stream costs the same however
 * much changes meanwhile. Of a large entry that the reader has only edits are sent, if it understands them.
 */
export class StateStream {
  readonly #states: NodeStates
  readonly #nodeId: string
  readonly #out: Writable
  readonly #clock: Clock
  readonly #takesEdits: boolean
  readonly #pending = new Set<string>()
  /** Large entries as last sent. */
  readonly #sent = new Map<string, HashedEntry>()
  #heartbeat = false
  #ended = false
  #wake: (() => void) | null = null

  constructor({ states, nodeId, out, clock, takesEdits }: StateStreamOptions) {
    this.#states = states
    this.#nodeId = nodeId
    this.#out = out
    this.#clock = clock
    this.#takesEdits = takesEdits
    out.on('close', () => this.end())
    out.on('error', () => this.end())
  }

  /** Writes until the reader goes or `end` is called. It never rejects because of the reader. */
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
    // A change while this is sent is also in `#pending`, and is sent after it.
    const all = [...this.#states.entries(this.#nodeId)]
    // A new node applies entries as they arrive, so domains and the group come before load balancers.
    const isFirst = ({ entry }: HashedEntry) => entry.kind !== 'load-balancer'
    for (const held of [...all.filter(isFirst), ...all.filter((each) => !isFirst(each))]) {
      if (this.#ended) return
      await this.#write(this.#lineOf(held))
    }
    await this.#write({ type: 'synced' })
  }

  async #writeChanges(): Promise<void> {
    while (!this.#ended) {
      const text = this.#nextChanges()
      if (text === '') await this.#sleep()
      else await this.#writeText(text)
    }
  }

  /** Changes that wait together are written together, so that the agent applies them in one pass. */
  #nextChanges(): string {
    let text = ''
    for (const key of this.#pending) {
      if (text.length >= CHARACTERS_TOGETHER) return text
      this.#pending.delete(key)
      const held = this.#states.get(this.#nodeId, key)
      if (held === null) this.#sent.delete(key)
      text += lineText(held === null ? { type: 'delete', key } : this.#lineOf(held))
    }
    if (this.#heartbeat) text += lineText({ type: 'heartbeat' })
    this.#heartbeat = false
    return text
  }

  #lineOf({ hash, entry }: HashedEntry): object {
    const before = this.#sent.get(entry.key)
    if (this.#takesEdits && isLargeEntry(entry)) this.#sent.set(entry.key, { hash, entry })
    else this.#sent.delete(entry.key)
    const edits = before === undefined ? null : editsBetween(before.entry, entry)
    if (before === undefined || edits === null) return { type: 'put', hash, entry }
    return { type: 'edit', key: entry.key, from: before.hash, hash, edits }
  }

  #write(line: object): Promise<void> {
    return this.#writeText(lineText(line))
  }

  async #writeText(text: string): Promise<void> {
    if (this.#ended || this.#out.write(text)) return
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
