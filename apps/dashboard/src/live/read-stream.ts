import { API, PAGE_HEADERS } from '../api/ask.ts'
import { Problem, problemOf } from '../api/problem.ts'
import { EventSplitter, type StreamEvent } from './event-splitter.ts'

/** The server says something every 15 s. A connection that is silent for longer is dead, as after a machine's sleep. */
const LONGEST_SILENCE_MS = 40_000

/**
 * The events of one stream, until it ends. `fetch` reads it: an `EventSource` can send no header.
 * @throws Problem when the server refuses it, or when it breaks
 */
export async function* readStream(topics: readonly string[], signal: AbortSignal): AsyncIterable<StreamEvent> {
  const silence = new AbortController()
  const either = AbortSignal.any([signal, silence.signal])
  let timer = setTimeout(() => silence.abort(), LONGEST_SILENCE_MS)
  try {
    const response = await fetch(`${API}/events?${new URLSearchParams({ topics: topics.join(',') })}`, {
      headers: { ...PAGE_HEADERS, accept: 'text/event-stream' },
      signal: either,
    })
    if (!response.ok || response.body === null) throw problemOf(response.status, await response.text())
    const splitter = new EventSplitter()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), LONGEST_SILENCE_MS)
      yield* splitter.push(read.value)
    }
  } catch (error) {
    throw error instanceof Problem ? error : new Problem(0, 'The stream of changes broke.', 'Unreachable')
  } finally {
    clearTimeout(timer)
  }
}
