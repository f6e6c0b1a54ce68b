/** One server-sent event. `data` is parsed JSON. */
export interface ReceivedEvent {
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an event it checks itself
  readonly data: any
}

export interface ReceivedEvents {
  /** The next event; null when the stream has ended. Comments and `retry` are skipped. */
  next(): Promise<ReceivedEvent | null>
  close(): void
}

/** Opens a stream of server-sent events (WHATWG HTML, section 9.2), as a page does. */
export async function receiveEvents(url: string, token: string): Promise<ReceivedEvents> {
  const abort = new AbortController()
  const reply = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: abort.signal })
  if (reply.status !== 200 || reply.body === null) throw new Error(`${reply.status} ${await reply.text()}`)
  if (reply.headers.get('content-type') !== 'text/event-stream') throw new Error('not a stream of events')
  const events = eventsIn(reply.body.pipeThrough(new TextDecoderStream()))
  return {
    next: async () => {
      const { value, done } = await events.next().catch(() => ({ value: null, done: true }))
      return done === true ? null : value
    },
    close: () => abort.abort(),
  }
}

async function* eventsIn(chunks: AsyncIterable<string>): AsyncGenerator<ReceivedEvent, undefined> {
  let text = ''
  for await (const chunk of chunks) {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      const [event, data] = [field('event'), field('data')]
      if (event !== undefined) yield { event, data: JSON.parse(data ?? 'null') }
    }
  }
}
