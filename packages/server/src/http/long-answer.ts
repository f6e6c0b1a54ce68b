import { Readable } from 'node:stream'
import { WrittenAnswer } from '@spout/runtime'
import type { FastifyReply } from 'fastify'
import { jsonPieces, PIECE_CHARACTERS } from './json-pieces.ts'
import { areLong, DOCUMENT_DEPTH } from './long.ts'

/** A reader that takes nothing for this long is cut off. */
const STALLED_READER_MS = 15_000

/** Resolves when the next piece of an answer may be made. */
export type Turn = () => Promise<void>

/**
 * Answers a list: a short one at once, a long one in pieces. Each piece is made only when the reader took the previous
 * ones, so that a project at its limits neither fills the memory nor delays others.
 */
export function sendList<T extends object>(
  reply: FastifyReply,
  turn: Turn,
  objects: readonly T[],
  show: (object: T) => unknown,
  rest: Readonly<Record<string, unknown>>,
): unknown {
  if (!areLong(objects)) return { items: objects.map(show), ...rest }
  return sendPieces(reply, listPieces(objects, show, rest, turn))
}

/** Like `sendList`, for objects that are shown as they are, under another name. */
export const sendListAs = (
  name: string,
  reply: FastifyReply,
  turn: Turn,
  objects: readonly object[],
  rest: Readonly<Record<string, unknown>>,
): unknown =>
  areLong(objects)
    ? sendPieces(
        reply,
        listPieces(objects, (object) => object, rest, turn, name),
      )
    : { [name]: objects, ...rest }

/** Answers a document, in pieces if it is long. */
export const sendDocument = (reply: FastifyReply, turn: Turn, document: object): unknown =>
  areLong([document]) ? sendPieces(reply, inTurns(jsonPieces(document, DOCUMENT_DEPTH), turn)) : reply.send(document)

/** How deep an answer is split whose long parts are `LongList`s. None of them nests deeper. */
const ANSWER_DEPTH = 10

/**
 * Length of the longest answer that is sent at once. Clients often list a hundred objects, which take more than one
 * piece and less than two.
 */
const MOST_AT_ONCE = 2 * PIECE_CHARACTERS

/**
 * Sends an answer at once if it is short, or was serialised before. Of any other, each piece is made when the reader
 * took the previous ones.
 */
export function sendAsWritten(reply: FastifyReply, turn: Turn, answer: object): unknown {
  if (answer instanceof WrittenAnswer) {
    if (answer.body.length > MOST_AT_ONCE) cutOffWhenStalled(reply)
    return reply.type('application/json; charset=utf-8').send(answer.body)
  }
  const pieces = jsonPieces(answer, ANSWER_DEPTH)
  const made: string[] = []
  for (let length = 0; length < MOST_AT_ONCE; ) {
    const next = pieces.next()
    if (next.done === true) return reply.type('application/json; charset=utf-8').send(made.join(''))
    made.push(next.value)
    length += next.value.length
  }
  return sendPieces(reply, inTurns(resumed(made, pieces), turn))
}

function* resumed(made: readonly string[], rest: Iterable<string>): Generator<string, undefined> {
  yield* made
  yield* rest
}

function cutOffWhenStalled(reply: FastifyReply): void {
  reply.raw.setTimeout(STALLED_READER_MS, () => reply.raw.destroy())
}

function sendPieces(reply: FastifyReply, pieces: AsyncIterable<string>): unknown {
  cutOffWhenStalled(reply)
  const body = Readable.from(pieces, { objectMode: false, highWaterMark: PIECE_CHARACTERS })
  return reply.type('application/json; charset=utf-8').send(body)
}

async function* inTurns(pieces: Iterable<string>, turn: Turn): AsyncGenerator<string, undefined> {
  for (const piece of pieces) {
    yield piece
    await turn()
  }
}

/** The JSON of `{items, …rest}`, or with another name for `items`. Objects are rendered when their turn comes. */
export async function* listPieces<T extends object>(
  objects: readonly T[],
  show: (object: T) => unknown,
  rest: Readonly<Record<string, unknown>>,
  turn: Turn,
  name = 'items',
): AsyncGenerator<string, undefined> {
  let piece = `{${JSON.stringify(name)}:[`
  let between = ''
  for (const object of objects) {
    piece += between
    between = ','
    for (const part of jsonOf(object, show(object))) {
      piece += part
      if (piece.length < PIECE_CHARACTERS) continue
      yield piece
      piece = ''
      await turn()
    }
  }
  const tail = JSON.stringify(rest).slice(1)
  yield `${piece}]${tail === '}' ? '' : ','}${tail}`
}

const jsonOf = (object: object, shown: unknown): Iterable<string> =>
  areLong([object]) ? jsonPieces(shown, DOCUMENT_DEPTH) : [JSON.stringify(shown)]
