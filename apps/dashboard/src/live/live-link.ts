import type { StreamEvent } from './event-splitter.ts'
import { LiveStream, type StreamListener } from './live-stream.ts'

const ONE = 'load-balancer:'

/**
 * What the page follows, whose topics change as people go from one part to another. A stream with other topics is open
 * before the former one ends, so nothing is missed between them, and what the page has read stays good. Whoever opens a
 * load balancer and goes back does not read a table of ten thousand again.
 */
export class LiveLink {
  readonly #listener: StreamListener
  /** The last one has the topics of now. Those before it end once it is open, or once it is not. */
  #streams: readonly LiveStream[] = []

  constructor(listener: StreamListener) {
    this.#listener = listener
  }

  follow(topics: readonly string[]): void {
    const stream: LiveStream = new LiveStream(topics, {
      onEvent: (event) => this.#event(stream, event),
      onState: (state) => {
        if (stream !== this.#streams.at(-1)) return
        // Without the former ones there may be room for it: a project may not have more than so many.
        if (state !== 'live') this.#only(stream)
        this.#listener.onState(state)
      },
    })
    this.#streams = [...this.#streams, stream]
    void stream.run()
  }

  stop(): void {
    for (const stream of this.#streams) stream.stop()
    this.#streams = []
  }

  #event(stream: LiveStream, event: StreamEvent): void {
    const known = this.#streams.filter((one) => one !== stream && one.isLive).map(({ topics }) => topics)
    if (event.name !== 'hello' || stream !== this.#streams.at(-1) || known.length === 0) {
      this.#listener.onEvent(event)
      return
    }
    this.#only(stream)
    const followed = new Set(known.flat())
    for (const topic of stream.topics) if (!followed.has(topic)) this.#listener.onEvent(nowFollowed(topic))
  }

  #only(stream: LiveStream): void {
    for (const other of this.#streams) if (other !== stream) other.stop()
    this.#streams = [stream]
  }
}

/** What was read before its topic was followed may be old. */
const nowFollowed = (topic: string): StreamEvent =>
  topic.startsWith(ONE)
    ? { name: 'load-balancer', data: JSON.stringify({ id: topic.slice(ONE.length) }) }
    : { name: 'node', data: '{}' }
