import { SpoutError } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BodyBudget } from './body-budget.ts'
import type { RequestShares, ShareLimits } from './request-shares.ts'

/** Whose share a request is of. */
export interface Asker {
  readonly who: string
  /** Of this share, where they are not the usual ones. */
  readonly limits?: ShareLimits
}

export interface AdmitOptions {
  readonly shares: RequestShares
  readonly bodies: BodyBudget
  /**
   * Who asks, by headers and connection alone.
   * @throws SpoutError Unauthenticated when the route is for those who are known
   */
  readonly askerOf: (request: FastifyRequest) => Asker
  /** Whose share one that is refused counts to: his address. */
  readonly strangerOf: (request: FastifyRequest) => Asker
}

/** What is read and thrown away so that the connection can go on. A longer body ends it. */
const MOST_UNREAD_BYTES = 65_536
/** A unit of a share, beside one for the request itself. */
export const BYTES_OF_A_UNIT = 16_384

/**
 * Decides on every request of a scope by its headers: who asks, whether it is his turn, and whether there is room for the
 * body. Only then is the body read. Whoever is refused is answered without reading it, and a connection with much of it
 * still to come is closed.
 */
export function admitByHeaders(scope: FastifyInstance, options: AdmitOptions): void {
  const { shares, bodies, askerOf, strangerOf } = options
  const askers = new WeakMap<FastifyRequest, Asker>()

  scope.addHook('onRequest', async (request, reply) => {
    if (request.is404) {
      await shares.turn(...shareOf(strangerOf(request)))
      // Nothing is there that would read it.
      if (bodyBytes(request) > 0) throw new SpoutError('NotFound', { what: 'Path', id: pathOf(request) })
      return
    }
    let asker: Asker
    try {
      asker = askerOf(request)
    } catch (error) {
      await shares.turn(...shareOf(strangerOf(request)))
      throw error
    }
    await shares.turn(...shareOf(asker))
    askers.set(request, asker)
    const bytes = bodyBytes(request)
    if (bytes === 0) return
    const release = bodies.hold(asker.who, bytes)
    shares.charge(asker.who, bytes / BYTES_OF_A_UNIT)
    reply.raw.once('close', release)
  })
  scope.addHook('onSend', async (request, reply, payload) => {
    const asker = askers.get(request)
    if (asker !== undefined) {
      const { socket } = request.raw
      const before = writtenBytes(socket)
      if (typeof payload === 'string') shares.charge(asker.who, payload.length / BYTES_OF_A_UNIT)
      // How long a streamed answer is shows when its reader has it, or went.
      else if (payload !== null && payload !== undefined)
        reply.raw.once('close', () => shares.charge(asker.who, (writtenBytes(socket) - before) / BYTES_OF_A_UNIT))
    }
    if (!request.raw.complete && bodyBytes(request) > MOST_UNREAD_BYTES) reply.header('connection', 'close')
  })
}

/** A request that did not come over a connection, but was injected, has a socket that counts nothing. */
const writtenBytes = ({ bytesWritten = 0 }: { readonly bytesWritten?: number }): number => bytesWritten

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''

const shareOf = ({ who, limits }: Asker): [string, ShareLimits?] => (limits === undefined ? [who] : [who, limits])

/** As announced; of a body that does not announce its length, the most that its route reads. */
function bodyBytes({ headers, routeOptions }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return routeOptions.bodyLimit ?? Number.MAX_SAFE_INTEGER
  const announced = Number(headers['content-length'] ?? 0)
  // What is longer than its route reads is refused before it is read.
  return Math.min(announced, routeOptions.bodyLimit ?? announced)
}
