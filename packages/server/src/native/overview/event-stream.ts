import { VERSION } from '@spout/runtime/version'
import { errorOf } from '../../http/error-of.ts'
import { problemOf } from '../../http/problem.ts'
import { queryValue } from '../../http/query.ts'
import { eventText } from '../live/event-text.ts'
import type { Batch } from '../live/live-changes.ts'
import type { ReaderView } from '../live/reader-view.ts'
import type { NativeContext } from '../operations/context.ts'
import type { Call } from '../operations/route.ts'
import { type OpenAnswer, openAnswer } from '../watches/open-answer.ts'
import { textWriter, type WriteText } from '../watches/text-writer.ts'
import { topicsOf } from './topics.ts'

/** A comment that keeps proxies from ending a quiet stream, and tells the server that the page is gone. */
const KEEP_ALIVE = ': \n\n'
const KEEP_ALIVE_MS = 15_000
/** How long a page waits before it connects again. */
const RETRY_MS = 1000

/**
 * Streams server-sent events until the page goes, its reader loses the access, or the server closes. A reader who is
 * demoted, disabled or deleted, or whose token expires, gets `end` at once and nothing after it.
 */
export async function streamEvents(context: NativeContext, call: Call<undefined>): Promise<void> {
  const { request, principal } = call
  const topics = topicsOf(queryValue(request, 'topics'), principal)
  const answer = await openAnswer(context, call, 'text/event-stream')
  const { reader, over } = answer
  const page = new Page(answer, { principal, topics })
  // Followed before the revision is read, so that a list which is read after `hello` misses nothing.
  const unfollow = context.live.follow((batch) => page.tell(batch))
  let keepAlive = context.clock.setTimer(function again() {
    page.keepAlive()
    keepAlive = context.clock.setTimer(again, KEEP_ALIVE_MS)
  }, KEEP_ALIVE_MS)
  try {
    const hello = JSON.stringify({ version: VERSION, revision: await context.store.revision() })
    await page.write(Buffer.from(`retry: ${RETRY_MS}\n${eventText('hello', hello)}`))
    await untilAborted(over)
    if (reader.refusal !== null) throw reader.refusal
    if (page.failure !== null) throw page.failure
  } catch (error) {
    await textWriter(answer)(eventText('end', JSON.stringify(problemOf(errorOf(error, request), request.id))))
  } finally {
    keepAlive.clear()
    unfollow()
    answer.end()
  }
}

/** One reader. While it is slow, what it misses is kept as keys, and told as it is when the reader is ready. */
class Page {
  readonly #answer: OpenAnswer
  readonly #view: ReaderView
  readonly #writeText: WriteText
  #isWriting = false
  #missed: Batch | null = null
  /** What kept an event from being made; null for nothing. */
  failure: unknown = null

  constructor(answer: OpenAnswer, view: ReaderView) {
    this.#answer = answer
    this.#view = view
    this.#writeText = textWriter(answer)
  }

  tell(batch: Batch): void {
    if (this.#isWriting) this.#missed = this.#missed?.plus(batch) ?? batch
    else void this.#tell(batch)
  }

  keepAlive(): void {
    if (!this.#isWriting) void this.write(KEEP_ALIVE)
  }

  async write(text: string | Buffer): Promise<void> {
    if (text.length === 0 || this.#answer.over.aborted) return
    this.#isWriting = true
    await this.#writeText(text)
    this.#isWriting = false
    const missed = this.#missed
    this.#missed = null
    if (missed !== null) await this.#tell(missed)
  }

  async #tell(batch: Batch): Promise<void> {
    try {
      await this.write(batch.textFor(this.#view))
    } catch (error) {
      this.failure ??= error
      this.#answer.cutOff()
    }
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
