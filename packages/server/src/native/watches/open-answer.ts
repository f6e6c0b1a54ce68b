import type { ServerResponse } from 'node:http'
import type { OpenStream } from '../../limits/open-streams.ts'
import { shareOf } from '../../turns/share-of.ts'
import type { NativeContext } from '../operations/context.ts'
import type { Call } from '../operations/route.ts'
import { followReader, type Reader } from './reader.ts'

/** An answer that stays open: its connection, its reader, and what ends it. */
export interface OpenAnswer {
  readonly raw: ServerResponse
  readonly reader: Reader
  readonly stream: OpenStream
  /** Aborts when nothing more can be written: the client went away, or the server closes. */
  readonly signal: AbortSignal
  /** Aborts then, too, and when the reader lost its access. */
  readonly over: AbortSignal
  /** Ends it for a reader that is too slow. */
  readonly cutOff: () => void
  /** Call it once, at the end. */
  end(): void
}

/**
 * Takes the connection of a call over, and sends the head of the answer.
 * @throws SpoutError TooManyRequests; then nothing was sent
 */
export async function openAnswer(
  context: NativeContext,
  call: Call<undefined>,
  contentType: string,
): Promise<OpenAnswer> {
  const { request, reply, principal } = call
  const stream = await context.streams.open(shareOf(principal))
  const gone = new AbortController()
  const signal = AbortSignal.any([gone.signal, context.closing])
  reply.hijack()
  const raw = reply.raw
  raw.on('close', () => gone.abort())
  raw.on('error', () => gone.abort())
  raw.writeHead(200, {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-openstack-request-id': request.id,
  })
  const reader = followReader(context, call)
  return {
    ...{ raw, reader, stream, signal },
    over: AbortSignal.any([signal, reader.lost]),
    cutOff: () => gone.abort(),
    end: () => {
      stream.close()
      reader.stop()
      gone.abort()
      const { socket } = raw
      // A closing server has already closed idle connections. This one would keep it waiting.
      raw.end(() => context.closing.aborted && socket?.end())
    },
  }
}
