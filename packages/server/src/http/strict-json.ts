import type { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { type JsonLimits, JsonScanner, malformed } from './json-scanner.ts'

/**
 * Reads and parses a JSON body. It is scanned as it arrives; one that is refused is never parsed or kept. The rest of
 * it is read all the same, because a client that is still sending may not see an answer.
 * @returns undefined for an empty body
 * @throws SpoutError MalformedJson for invalid UTF-8 and invalid JSON, and what `JsonScanner.take` throws; fastify's
 * own errors for a body beyond the limit, which is read no further, and for one that ends early
 */
export async function readStrictJson(body: Readable, limitBytes: number, limits: JsonLimits): Promise<unknown> {
  const scanner = new JsonScanner(limits)
  let pieces: Buffer[] = []
  let refusal: unknown = null
  let bytes = 0
  await forEachPiece(body, (piece) => {
    bytes += piece.length
    if (bytes > limitBytes) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
    if (refusal !== null) return
    pieces.push(piece)
    try {
      scanner.take(piece)
    } catch (error) {
      refusal = error
      pieces = []
    }
  })
  if (refusal !== null) throw refusal
  return bytes === 0 ? undefined : parse(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
}

/**
 * Reads a stream to its end, or until `take` throws. The stream stays open in both cases, because the answer is sent on
 * its connection. It listens for events, because an async iterator costs several times as much as a short body.
 */
function forEachPiece(body: Readable, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      body.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
    }
    const onEnd = (): void => {
      stop()
      resolve()
    }
    const onCut = (): void => {
      stop()
      reject(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH())
    }
    const onData = (piece: Buffer): void => {
      try {
        take(piece)
      } catch (error) {
        stop()
        // The remaining data is ignored.
        body.on('error', () => {}).pause()
        reject(error)
      }
    }
    body.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
  })
}

/** Made once: making one takes longer than using it. */
const UTF8 = new TextDecoder('utf-8', { fatal: true })

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body))
  } catch (error) {
    // The parser's message can quote the body, and a body can contain a password.
    throw malformed(error instanceof SyntaxError ? 'it does not parse' : 'it is not UTF-8')
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Limits of what bodies of the route contain. Default: those of the server. */
    readonly jsonLimits?: JsonLimits
  }
}

/** Only JSON bodies are read. An empty one counts as none: OpenStack's clients send DELETE with a content type. */
export function acceptStrictJson(app: FastifyInstance, limits: JsonLimits): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, body: Readable) => {
    const { bodyLimit: limitBytes = 0, config } = request.routeOptions
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
    return readStrictJson(body, limitBytes, config.jsonLimits ?? limits)
  })
}
