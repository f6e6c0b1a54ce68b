import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** HTTP/2 (RFC 9113) frame by frame, for clients that send what no library does. */

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
export const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export function frame(type: number, flags: number, stream: number, payload: Uint8Array | string = ''): Buffer {
  const content = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload
  const head = Buffer.alloc(9)
  head.writeUIntBE(content.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, content])
}

export type Field = readonly [name: string, value: string]

/** A header block of literals without indexing and without Huffman codes (RFC 7541 section 6.2.2): bytes as they are. */
export const headerBlock = (fields: readonly Field[]): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]))

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

/** What a stream came to. */
export interface StreamEnd {
  /** Of the response's header; null without one. */
  readonly status: number | null
  readonly body: string
  readonly isReset: boolean
}

export interface RawHttp2 {
  write(...frames: readonly Uint8Array[]): void
  /** Resolves when the stream ended, was reset, or the connection closed. */
  ended(stream: number): Promise<StreamEnd>
  /** Resolves when what was written is on its way, or the connection is closed. */
  sent(): Promise<void>
  /** Frames that came, by type. */
  readonly came: (type: number) => number
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
  end(): void
}

/** The codes that HAProxy writes by their index in the static table (RFC 7541 appendix A). */
const STATUS_BY_INDEX: Readonly<Record<number, number>> = {
  136: 200,
  137: 204,
  138: 206,
  139: 304,
  140: 400,
  141: 404,
  142: 500,
}

const statusOf = (block: Buffer): number => STATUS_BY_INDEX[block[0]!] ?? Number(block.toString('latin1', 2, 5))

/** Opens a connection and says hello. @param name over TLS, the name that is asked for; null: plain */
export async function openHttp2(
  to: { readonly host: string; readonly port: number },
  name: string | null,
): Promise<RawHttp2> {
  const socket: Socket =
    name === null
      ? connectTcp(to)
      : connectTls({ ...to, servername: name, ALPNProtocols: ['h2'], rejectUnauthorized: false })
  const streams = new Map<number, { status: number | null; body: string; isReset: boolean; isEnded: boolean }>()
  const waiters = new Set<() => void>()
  const counts = new Map<number, number>()
  let [buffer, isClosed] = [Buffer.alloc(0), false]
  const wake = () => {
    for (const waiter of waiters) waiter()
  }
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('close', () => {
    isClosed = true
    wake()
  })
  const streamOf = (id: number) => {
    const known = streams.get(id) ?? { status: null, body: '', isReset: false, isEnded: false }
    streams.set(id, known)
    return known
  }
  socket.on('data', (data: Buffer) => {
    buffer = Buffer.concat([buffer, data])
    for (;;) {
      if (buffer.length < 9) break
      const length = buffer.readUIntBE(0, 3)
      if (buffer.length < 9 + length) break
      const [type, flags, id] = [buffer[3]!, buffer[4]!, buffer.readUInt32BE(5)]
      const payload = buffer.subarray(9, 9 + length)
      buffer = buffer.subarray(9 + length)
      counts.set(type, (counts.get(type) ?? 0) + 1)
      if (type === FRAME.settings && (flags & FLAG.ack) === 0) socket.write(frame(FRAME.settings, FLAG.ack, 0))
      if (id === 0) continue
      const stream = streamOf(id)
      if (type === FRAME.headers && stream.status === null) stream.status = statusOf(payload)
      if (type === FRAME.data) stream.body += payload.toString('latin1')
      if (type === FRAME.reset) stream.isReset = true
      if (type === FRAME.reset || ((type === FRAME.headers || type === FRAME.data) && (flags & FLAG.endStream) !== 0))
        stream.isEnded = true
    }
    wake()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once(name === null ? 'connect' : 'secureConnect', () => resolve())
    socket.once('error', reject)
  })
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]))
  return {
    write: (...frames) => void (isClosed || socket.write(Buffer.concat(frames))),
    ended: (id) =>
      new Promise((resolve) => {
        const look = () => {
          const { isEnded, ...end } = streamOf(id)
          if (!isEnded && !isClosed) return
          waiters.delete(look)
          resolve(end)
        }
        waiters.add(look)
        look()
      }),
    // Event `drain` comes only after a write beyond the high-water mark.
    sent: () =>
      new Promise((resolve) => {
        if (isClosed || socket.writableLength === 0) return resolve()
        socket.write('', () => resolve())
      }),
    came: (type) => counts.get(type) ?? 0,
    closed,
    end: () => socket.destroy(),
  }
}
