import { Readable } from 'node:stream'
import { SpoutError } from '@spout/model'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { lingerAtClose } from '../http/lingering-close.ts'
import type { BodyBudget } from './body-budget.ts'
import type { RequestShares, ShareLimits } from './request-shares.ts'

/** The share that a request counts to. */
export interface Asker {
  readonly who: string
  /** The share's limits, if they are not the default. */
  readonly limits?: ShareLimits
}

export interface AdmitOptions {
  readonly shares: RequestShares
  readonly bodies: BodyBudget
  /**
   * Finds the share by headers and connection alone. It may have to ask another identity service about the token.
   * @throws SpoutError Unauthenticated when the route needs a token
   */
  readonly askerOf: (request: FastifyRequest) => Asker | Promise<Asker>
  /** The share that a refused request counts to: that of its address. */
  readonly strangerOf: (request: FastifyRequest) => Asker
  /** Resolves when the next piece of a long body may be read or parsed. Without it nothing waits. */
  readonly turn?: (who: string) => Promise<void>
}

// The hooks call back instead of returning promises: a promise for each would cost more than what most of them do.

/** How much of a refused body is read and discarded to keep the connection. A longer one closes it. */
const MOST_UNREAD_BYTES = 65_536
/** A longer body waits for turns, because to validate it can take milliseconds. */
const MOST_WITHOUT_TURNS_BYTES = 4096
/** A request costs one unit, and one more per this many bytes. */
export const BYTES_OF_A_UNIT = 16_384

/**
 * Admits every request of a scope by its headers: authentication, the share's turn, and room for the body. Only then is
 * the body read. A refused request is answered without reading its body; if much of it is still to come, the connection
 * is closed.
 */
export function admitByHeaders(scope: FastifyInstance, options: AdmitOptions): void {
  const { shares, bodies, askerOf, strangerOf, turn } = options
  const askers = new WeakMap<FastifyRequest, Asker>()

  const refuse = async (request: FastifyRequest, error: unknown): Promise<never> => {
    await shares.turn(...shareOf(strangerOf(request)))
    throw error
  }
  const nowhere = async (request: FastifyRequest): Promise<null> => {
    await shares.turn(...shareOf(strangerOf(request)))
    // No handler would read the body.
    if (bodyBytes(request) > 0) throw new SpoutError('NotFound', { what: 'Path', id: pathOf(request) })
    return null
  }
  const inTurn = (asker: Asker): Asker | Promise<Asker> =>
    shares.startsNow(...shareOf(asker)) ? asker : shares.turn(...shareOf(asker)).then(() => asker)
  /** Null for a path without a route. */
  const askerInTurn = (request: FastifyRequest): Asker | null | Promise<Asker | null> => {
    if (request.is404) return nowhere(request)
    try {
      const asker = askerOf(request)
      return asker instanceof Promise ? asker.then(inTurn, (error) => refuse(request, error)) : inTurn(asker)
    } catch (error) {
      return refuse(request, error)
    }
  }
  const admit = (request: FastifyRequest, reply: FastifyReply, asker: Asker | null): void => {
    if (asker === null) return
    askers.set(request, asker)
    const bytes = bodyBytes(request)
    if (bytes === 0) return
    const release = bodies.hold(asker.who, bytes)
    shares.charge(asker.who, bytes / BYTES_OF_A_UNIT)
    reply.raw.once('close', release)
  }

  scope.addHook('onRequest', (request, reply, done) => {
    const asker = askerInTurn(request)
    if (asker instanceof Promise) asker.then((known) => admit(request, reply, known)).then(() => done(), done)
    else {
      try {
        admit(request, reply, asker)
      } catch (error) {
        return done(error as Error)
      }
      done()
    }
  })
  scope.addHook('preParsing', (request, _reply, body, done) => {
    const asker = askers.get(request)
    if (turn === undefined || asker === undefined || bodyBytes(request) <= MOST_WITHOUT_TURNS_BYTES) done(null, body)
    else done(null, Readable.from(inTurns(body as Readable, () => turn(asker.who))))
  })
  scope.addHook('onSend', (request, reply, payload, done) => {
    const asker = askers.get(request)
    if (asker !== undefined)
      onAnswerBytes(request, reply, payload, (bytes) => shares.charge(asker.who, bytes / BYTES_OF_A_UNIT))
    if (!request.raw.complete && bodyBytes(request) > MOST_UNREAD_BYTES) {
      reply.header('connection', 'close')
      lingerAtClose(request.raw.socket)
    }
    done()
  })
}

/** A turn for each piece, and a last one for the end, when the body is parsed and validated. */
async function* inTurns(body: Readable, turn: () => Promise<void>): AsyncGenerator<Buffer, undefined> {
  for await (const sent of body.iterator({ destroyOnReturn: false }))
    for (let at = 0; at < sent.length; at += BYTES_OF_A_UNIT) {
      await turn()
      yield sent.subarray(at, at + BYTES_OF_A_UNIT)
    }
  await turn()
}

/** Calls back with the size of an answer. That of a streamed one is known when it has ended or its reader has gone. */
function onAnswerBytes(
  { raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  charge: (bytes: number) => void,
): void {
  if (payload === null || payload === undefined) return
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) charge(payload.length)
  else {
    const before = writtenBytes(socket)
    reply.raw.once('close', () => charge(writtenBytes(socket) - before))
  }
}

/** Bytes written to a connection. The socket of an injected request counts none. */
const writtenBytes = ({ bytesWritten = 0 }: { readonly bytesWritten?: number }): number => bytesWritten

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''

const shareOf = ({ who, limits }: Asker): [string, ShareLimits?] => (limits === undefined ? [who] : [who, limits])

/** The announced length. Without one, the limit of the route. */
function bodyBytes(request: FastifyRequest): number {
  const { headers } = request.raw
  const isChunked = headers['transfer-encoding'] !== undefined
  if (!isChunked && headers['content-length'] === undefined) return 0
  // Fastify makes this object anew at each access, so it is not touched for requests without a body.
  const { bodyLimit } = request.routeOptions
  if (isChunked) return bodyLimit ?? Number.MAX_SAFE_INTEGER
  const announced = Number(headers['content-length'])
  // The server refuses a longer body before reading it.
  return Math.min(announced, bodyLimit ?? announced)
}
