import { connect, type Socket } from 'node:net'
import { type ControlReply, ReplyReader } from './control-reply.ts'

/** The daemon is gone, or does not answer. The command may or may not have been executed. */
export class BirdLost extends Error {
  override readonly name = 'BirdLost'
}

interface Waiting {
  readonly resolve: (reply: ControlReply) => void
  readonly reject: (error: Error) => void
}

/** Much longer than a busy daemon needs for thousands of routes. */
const REPLY_WITHIN_MS = 10_000

/** A permanent connection to BIRD's control socket. Its end tells at once that the daemon is gone. */
export class ControlSocket {
  readonly #socket: Socket
  readonly #reader = new ReplyReader()
  readonly #waiting: Waiting[] = []
  readonly #onLost: () => void
  #closed = false

  private constructor(socket: Socket, onLost: () => void) {
    this.#socket = socket
    this.#onLost = onLost
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      for (const reply of this.#reader.read(text)) this.#waiting.shift()?.resolve(reply)
    })
    socket.on('close', () => this.#end())
    socket.on('error', () => socket.destroy())
    socket.setTimeout(REPLY_WITHIN_MS, () => this.#waiting.length > 0 && socket.destroy())
  }

  /**
   * @param onLost called once when the connection ends other than by `close`
   * @throws BirdLost
   */
  static async connect(path: string, onLost: () => void): Promise<ControlSocket> {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const opening = connect(path)
      opening.once('connect', () => resolve(opening))
      opening.once('error', (error) => reject(new BirdLost(`the control socket does not answer: ${error.message}`)))
    })
    const opened = new ControlSocket(socket, onLost)
    // BIRD sends a greeting first.
    await opened.#reply()
    return opened
  }

  get open(): boolean {
    return !this.#socket.destroyed
  }

  /** @param command one line, without text of others. @throws BirdLost */
  command(command: string): Promise<ControlReply> {
    if (!this.open) return Promise.reject(new BirdLost('the daemon is gone'))
    const reply = this.#reply()
    this.#socket.write(`${command}\n`)
    return reply
  }

  close(): void {
    this.#closed = true
    this.#socket.destroy()
  }

  #reply(): Promise<ControlReply> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  #end(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new BirdLost('the daemon ended before it answered'))
    if (!this.#closed) this.#onLost()
  }
}
