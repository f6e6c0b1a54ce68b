import { Readable } from 'node:stream'
import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

/** Objects, with their parts, up to which a list is one text: what follows is made as the reader takes it. */
const MOST_AT_ONCE = 500
/** Characters that are made without letting others run. */
const PIECE_CHARACTERS = 65_536
/** A reader that takes nothing for so long is cut off. */
const STALLED_READER_MS = 15_000

/** What makes a list long. */
export const sizeOf = (object: object): number =>
  'pools' in object && Array.isArray(object.pools)
    ? object.pools.reduce((sum: number, pool: { readonly members?: readonly unknown[] }) => {
        return sum + 1 + (pool.members?.length ?? 0)
      }, 1)
    : 1

/**
 * The answer to a list: at once when it is short, else in pieces, each made once the reader took those before it, so that
 * a project at its limits neither fills the memory nor holds others up.
 */
export function sendList<T extends object>(
  reply: FastifyReply,
  objects: readonly T[],
  show: (object: T) => unknown,
  rest: Readonly<Record<string, unknown>>,
): unknown {
  let size = 0
  for (const object of objects) {
    size += sizeOf(object)
    if (size > MOST_AT_ONCE) break
  }
  if (size <= MOST_AT_ONCE) return { items: objects.map(show), ...rest }
  reply.raw.setTimeout(STALLED_READER_MS, () => reply.raw.destroy())
  const pieces = Readable.from(piecesOf(objects, show, rest), { objectMode: false, highWaterMark: PIECE_CHARACTERS })
  return reply.type('application/json; charset=utf-8').send(pieces)
}

/** The JSON of `{items, …rest}`. Objects are shown when their turn comes. */
export async function* piecesOf<T>(
  objects: readonly T[],
  show: (object: T) => unknown,
  rest: Readonly<Record<string, unknown>>,
): AsyncGenerator<string, undefined> {
  let piece = '{"items":['
  let isFirst = true
  for (const object of objects) {
    piece += (isFirst ? '' : ',') + JSON.stringify(show(object))
    isFirst = false
    if (piece.length < PIECE_CHARACTERS) continue
    yield piece
    piece = ''
    await letOthersRun()
  }
  const tail = JSON.stringify(rest).slice(1)
  yield `${piece}]${tail === '}' ? '' : ','}${tail}`
}
