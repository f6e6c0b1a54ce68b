import { jsonPieces } from '../../http/json-pieces.ts'
import { areLong, DOCUMENT_DEPTH } from '../../http/long.ts'
import type { Turn } from '../../http/long-answer.ts'
import { textWriter, type WritableAnswer } from './text-writer.ts'

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

/**
 * Writes lines one after the other. Each is made only when the reader took the previous ones, so one piece at most is
 * buffered for a slow reader. A long line is made in pieces, with turns for others in between.
 */
export function lineWriter(answer: WritableAnswer, turn: Turn): WriteLine {
  const writeText = textWriter(answer)
  const writeLine = async (make: () => Line | null): Promise<void> => {
    await turn()
    const line = answer.signal.aborted ? null : make()
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
