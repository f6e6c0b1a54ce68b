/**
 * Readers of streams of events, as many as pages of other machines would be, in a process of their own. They read bytes
 * and look for names: parsers of that many streams would take the processor that the control plane is measured on.
 * Speaks by messages of its parent; times are in ms on CLOCK_MONOTONIC.
 */
import { connect, type Socket } from 'node:net'

/** What it is asked for: to open streams, then to say when all of them have been told of a name. */
export type Asked =
  | { readonly open: number; readonly port: number; readonly token: string }
  /** @param end what is in the text of the last change, and nowhere before */
  | { readonly watch: string }
/** Its answers: that all are open; that all have read the name, and when the first of them has read each. */
export type Answered = { readonly opened: number } | { readonly readBy: readonly (readonly [string, number])[] }

/** Longer than any name. */
const TAIL_BYTES = 32
const NAME = /change-\d+-end/g

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6
const answer = (said: Answered): void => void process.send?.(said)

let end: Buffer | null = null
let waiting = 0
const readBy = new Map<string, number>()

class Stream {
  readonly #isFirst: boolean
  #tail: Buffer = Buffer.alloc(0)
  #isBehind = false

  constructor(isFirst: boolean) {
    this.#isFirst = isFirst
  }

  watch(): void {
    this.#isBehind = true
    this.#tail = Buffer.alloc(0)
  }

  take(bytes: Buffer): void {
    const text = Buffer.concat([this.#tail, bytes])
    this.#tail = Buffer.from(text.subarray(-TAIL_BYTES))
    if (this.#isFirst)
      for (const [name] of text.toString('latin1').matchAll(NAME)) if (!readBy.has(name)) readBy.set(name, nowMs())
    if (!this.#isBehind || end === null || !text.includes(end)) return
    this.#isBehind = false
    if (--waiting === 0) answer({ readBy: [...readBy] })
  }
}

const streams: Stream[] = []

/** Resolves once its head has come. */
function open(port: number, token: string, stream: Stream): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the stream has ended')))
    socket.once('data', (head) => {
      if (!head.toString('latin1').startsWith('HTTP/1.1 200 ')) return reject(new Error(head.toString('latin1')))
      // Without an encoding it is always bytes.
      socket.on('data', (bytes) => stream.take(bytes as Buffer))
      resolve(socket)
    })
    socket.write(
      `GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`,
    )
  })
}

process.on('message', (asked: Asked) => {
  if ('watch' in asked) {
    end = Buffer.from(asked.watch)
    readBy.clear()
    waiting = streams.length
    for (const stream of streams) stream.watch()
    return
  }
  for (let n = 0; n < asked.open; n++) streams.push(new Stream(n === 0))
  void Promise.all(streams.map((stream) => open(asked.port, asked.token, stream))).then(() =>
    answer({ opened: streams.length }),
  )
})
process.on('disconnect', () => process.exit())
