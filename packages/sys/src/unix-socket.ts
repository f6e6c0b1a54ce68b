import { connect } from 'node:net'

export interface ExchangeOptions {
  /** Time limit for the whole exchange. */
  readonly timeoutMs: number
  /** A longer answer is an error. Default 16 MiB. */
  readonly maxBytes?: number
}

/**
 * One request and one answer over a UNIX stream socket: connects, writes the request, and resolves with everything
 * until the peer closes (HAProxy's runtime API closes after each command line).
 * @throws Error if the socket cannot be reached, or the answer is late or too long
 */
export function exchange(path: string, request: string | Uint8Array, options: ExchangeOptions): Promise<Buffer> {
  const maxBytes = options.maxBytes ?? 16 << 20
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    const chunks: Buffer[] = []
    let length = 0
    const fail = (why: string) => socket.destroy(new Error(`${path}: ${why}`))
    const timer = setTimeout(() => fail(`no answer within ${options.timeoutMs} ms`), options.timeoutMs)
    // Not `end`: HAProxy takes a half-closed connection for a client that left and may truncate its answer.
    socket.once('connect', () => socket.write(request))
    socket.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) fail(`the answer is longer than ${maxBytes} bytes`)
      else chunks.push(chunk)
    })
    socket.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks))
    })
  })
}
