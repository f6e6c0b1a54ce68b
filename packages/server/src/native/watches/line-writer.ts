import type { ServerResponse } from 'node:http'
import { jsonPieces } from '../../http/json-pieces.ts'
import { areLong, DOCUMENT_DEPTH } from '../../http/long.ts'
import type { Turn } from '../../http/long-answer.ts'
import type { OpenStream } from '../../limits/open-streams.ts'

/** A reader that takes nothing for this long is cut off. It can resume with `from`. */
const STALLED_READER_MS = 15_000

/** One line of a watch: an event, usually about an object. */
export interface Line {
  readonly type: string
  readonly object?: object
}

/**
 * Writes one line. `make` is called when its turn comes, and returns null to skip it. Resolves once the reader took the
 * line, or when it will never be written.
 */
export type WriteLine = (make: () => Line | null) => Promise<void>

export interface LineWriterOptions {
  /** Nothing is written after it aborts. */
  readonly signal: AbortSignal
  /** Nothing is waited for after it aborts. */
  readonly over: AbortSignal
  readonly stream: OpenStream
  readonly turn: Turn
  /** Ends the stream of a slow reader. */
  readonly cutOff: () => void
}

/**
 * Writes lines one after the other. Each is made only when the reader took the previous ones, so one piece at most is
 * buffered for a slow reader. A long line is made in pieces, with turns for others in between.
 */
export function lineWriter(raw: ServerResponse, { signal, over, stream, turn, cutOff }: LineWriterOptions): WriteLine {
  const cut = () => {
    cutOff()
    raw.destroy()
  }
  const untilTaken = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        cut()
        finish()
      }, STALLED_READER_MS)
      const finish = () => {
        clearTimeout(timer)
        raw.off('drain', finish)
        over.removeEventListener('abort', finish)
        stream.holds(raw.writableLength)
        resolve()
      }
      raw.once('drain', finish)
      over.addEventListener('abort', finish, { once: true })
    })
  const writeText = async (text: string): Promise<void> => {
    if (signal.aborted) return
    stream.sent(text.length)
    if (raw.write(text)) return
    if (!stream.holds(raw.writableLength)) return cut()
    if (!over.aborted) await untilTaken()
  }
  const writeLine = async (make: () => Line | null): Promise<void> => {
    await turn()
    const line = signal.aborted ? null : make()
    if (line === null) return
    if (line.object === undefined || !areLong([line.object])) return writeText(`${JSON.stringify(line)}\n`)
    for (const piece of jsonPieces(line, DOCUMENT_DEPTH + 1)) {
      await writeText(piece)
      await turn()
    }
    await writeText('\n')
  }
  let last = Promise.resolve()
  return (make) => {
    const written = last.then(() => writeLine(make))
    // The caller gets the error of a line that cannot be made. Later lines are still written.
    last = written.catch(() => {})
    return written
  }
}
