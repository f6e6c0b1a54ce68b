import { type Clock, type Logger, systemClock } from '@spout/runtime'
import { microTime } from '../lease/micro-time.ts'
import { isNotFound, KubeError } from '../transport/errors.ts'
import { EVENTS, type Event, type ObjectReference } from '../types/index.ts'
import type { KubeClient } from '../write/kube-client.ts'
import { BoundedMap } from './bounded-map.ts'
import { TokenBucket } from './token-bucket.ts'

export interface EventDraft {
  /** The object of the event. Its namespace is the event's namespace. */
  readonly regarding: ObjectReference
  readonly related?: ObjectReference
  readonly type: 'Normal' | 'Warning'
  /** Why it happened, CamelCase; at most 128 characters. */
  readonly reason: string
  /** What was done or tried, CamelCase; at most 128 characters. */
  readonly action: string
  /** A text for people, cut at 1,024 bytes. */
  readonly note: string
}

export interface EventRecorderOptions {
  readonly client: KubeClient
  /** Name of the program, such as `spout.dev/connector`. */
  readonly reportingController: string
  /** Name of the process. At most 128 characters. */
  readonly reportingInstance: string
  readonly log: Logger
  readonly clock?: Clock
  /** How many events of one object are allowed at once. Default: 10. */
  readonly burst?: number
  /** One more event is allowed each time this has passed. Default: a minute. */
  readonly refillMs?: number
  /** An equal event within this time is counted in the series of the first. Default: 6 minutes. */
  readonly seriesMs?: number
  /** The count of a series is written at most this often. Default: a minute. */
  readonly seriesWriteMs?: number
  /** How many events may wait to be written; further ones are dropped. Default: 1,000. */
  readonly queueLimit?: number
}

/** Counters since the start, for metrics. */
export interface EventCounts {
  readonly written: number
  /** Counted in a series instead of written as events of their own. */
  readonly repeated: number
  /** Dropped because of the object's rate limit, or because the queue was full. */
  readonly dropped: number
  /** Refused by the server, or not sent. */
  readonly failed: number
}

/** How many events and objects are remembered. */
const REMEMBERED = 4096
const MAX_NOTE_BYTES = 1024
const WRITE_DEADLINE_MS = 10_000

interface Recorded {
  readonly event: Event
  /** How often it happened. */
  count: number
  /** When it happened last. */
  lastMs: number
  /** When it was last written. */
  writtenMs: number
  /** Whether it waits in the queue. */
  queued: boolean
  /** Whether the server has it. */
  created: boolean
}

/**
 * Writes events about objects, for people. Recording returns at once and never fails: an event that cannot be written
 * is counted and dropped. So nothing may depend on an event.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #clock: Clock
  readonly #seriesMs: number
  readonly #seriesWriteMs: number
  readonly #recorded = new BoundedMap<string, Recorded>(REMEMBERED)
  readonly #buckets = new BoundedMap<string, TokenBucket>(REMEMBERED)
  readonly #queue: Recorded[] = []
  readonly #counts = { written: 0, repeated: 0, dropped: 0, failed: 0 }
  readonly #closing = new AbortController()
  #sequence = 0
  #working: Promise<void> | null = null

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#seriesMs = options.seriesMs ?? 6 * 60_000
    this.#seriesWriteMs = options.seriesWriteMs ?? 60_000
  }

  get counts(): EventCounts {
    return this.#counts
  }

  record(draft: EventDraft): void {
    if (this.#closing.signal.aborted) return
    const nowMs = this.#clock.monotonicMs()
    const { regarding, related } = draft
    const object = regarding.uid ?? `${regarding.kind}/${regarding.namespace}/${regarding.name}`
    const key = JSON.stringify([object, related?.uid, draft.type, draft.reason, draft.action, draft.note])
    const known = this.#recorded.get(key)
    if (known !== undefined && nowMs - known.lastMs < this.#seriesMs) {
      known.count++
      known.lastMs = nowMs
      this.#counts.repeated++
      if (!known.queued && nowMs - known.writtenMs >= this.#seriesWriteMs) this.#enqueue(known)
      return
    }
    if (!this.#bucketOf(object, nowMs).take(nowMs)) {
      this.#counts.dropped++
      return
    }
    const event = this.#eventOf(draft)
    const recorded = { event, count: 1, lastMs: nowMs, writtenMs: nowMs, queued: false, created: false }
    if (this.#enqueue(recorded)) this.#recorded.set(key, recorded)
  }

  /** Waits until every recorded event is written or dropped. */
  async flush(): Promise<void> {
    while (this.#working !== null) await this.#working
  }

  /** Drops the events that wait. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#queue.length = 0
    await this.flush()
  }

  #bucketOf(object: string, nowMs: number): TokenBucket {
    const { burst = 10, refillMs = 60_000 } = this.#options
    const bucket = this.#buckets.get(object) ?? new TokenBucket(burst, refillMs, nowMs)
    this.#buckets.set(object, bucket)
    return bucket
  }

  #eventOf({ regarding, related, note, ...draft }: EventDraft): Event {
    const { reportingController, reportingInstance } = this.#options
    const now = this.#clock.now()
    // Named like those of client-go: the object's name and a unique suffix.
    const unique = `${(now.getTime() * 1000 + (this.#sequence++ % 1000)).toString(16)}`
    return {
      metadata: {
        namespace: regarding.namespace || 'default',
        name: `${(regarding.name ?? '').slice(0, 230)}.${unique}`,
      },
      eventTime: microTime(now),
      reportingController,
      reportingInstance: reportingInstance.slice(0, 128),
      regarding,
      ...(related === undefined ? {} : { related }),
      ...draft,
      note: cutToBytes(note, MAX_NOTE_BYTES),
    }
  }

  #enqueue(recorded: Recorded): boolean {
    if (this.#queue.length >= (this.#options.queueLimit ?? 1000)) {
      this.#counts.dropped++
      return false
    }
    recorded.queued = true
    this.#queue.push(recorded)
    this.#working ??= this.#work()
    return true
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      next.queued = false
      next.writtenMs = this.#clock.monotonicMs()
      try {
        await this.#write(next)
        this.#counts.written++
      } catch (error) {
        this.#counts.failed++
        const status = error instanceof KubeError ? error.status : null
        this.#options.log.debug({ event: 'event-not-written', status, reason: (error as Error).message }, 'event lost')
      }
    }
    this.#working = null
  }

  async #write(recorded: Recorded): Promise<void> {
    const { client } = this.#options
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(WRITE_DEADLINE_MS)])
    const { event, count } = recorded
    if (recorded.created) {
      const series = { count, lastObservedTime: microTime(this.#clock.now()) }
      if ((await client.mergePatch(EVENTS, event.metadata, { series }, { signal })) !== null) return
      // The server deletes events after an hour: then the event is created again.
    }
    try {
      await client.create(EVENTS, event, signal)
      recorded.created = true
    } catch (error) {
      if (isNotFound(error)) throw new Error('the namespace is gone', { cause: error })
      throw error
    }
  }
}

/** Cuts a text to a number of bytes, between characters. */
function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const ellipsis = '...'
  const room = new Uint8Array(bytes - ellipsis.length)
  const { read } = new TextEncoder().encodeInto(text, room)
  return text.slice(0, read) + ellipsis
}
