import type { OpenAnswer } from './open-answer.ts'

/** A reader that takes nothing for this long is cut off. */
const STALLED_READER_MS = 15_000

export type WritableAnswer = Pick<OpenAnswer, 'raw' | 'signal' | 'over' | 'stream' | 'cutOff'>

/** Writes a text. Resolves once the reader took it, or when it will never be written. */
export type WriteText = (text: string | Buffer) => Promise<void>

/** Writes texts of an open answer. A reader that stalls, or for whom too much is buffered, is cut off. */
export function textWriter({ raw, signal, over, stream, cutOff }: WritableAnswer): WriteText {
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
  return async (text) => {
    if (signal.aborted) return
    stream.sent(text.length)
    if (raw.write(text)) return
    if (!stream.holds(raw.writableLength)) return cut()
    if (!over.aborted) await untilTaken()
  }
}
