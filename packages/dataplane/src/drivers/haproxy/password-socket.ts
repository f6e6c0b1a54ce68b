import { connect, type Socket } from 'node:net'

interface Waiting {
  readonly resolve: (line: string) => void
  readonly reject: (error: Error) => void
}

const REPLY_WITHIN_MS = 5_000

/** A permanent connection to `spout-passwords` (`native/passwords/agent.h`). Its end tells that the process is gone. */
export class PasswordSocket {
  readonly #socket: Socket
  readonly #waiting: Waiting[] = []
  readonly #onLost: () => void
  #received = ''
  #closed = false

  private constructor(socket: Socket, onLost: () => void) {
    this.#socket = socket
    this.#onLost = onLost
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#take(text))
    socket.on('close', () => this.#end())
    socket.on('error', () => socket.destroy())
    socket.setTimeout(REPLY_WITHIN_MS, () => {
      if (this.#waiting.length > 0) socket.destroy()
    })
  }

  /** @param onLost called once when the connection ends other than by `close` @throws Error */
  static async connect(path: string, onLost: () => void): Promise<PasswordSocket> {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const opening = connect(path)
      opening.once('connect', () => resolve(opening))
      opening.once('error', (error) => reject(new Error(`the process does not answer: ${error.message}`)))
    })
    return new PasswordSocket(socket, onLost)
  }

  /** Content ids of the lists that it has. */
  async lists(): Promise<ReadonlySet<string>> {
    return new Set((await this.#send('list\n')).split(' ').filter((id) => id !== ''))
  }

  /** @param list as it is kept in its file @throws Error for one that it does not take */
  async put(contentId: string, list: string): Promise<void> {
    const reply = await this.#send(`put ${contentId} ${list.length}\n${list}`)
    if (reply !== 'ok') throw new Error(reply)
  }

  async drop(contentId: string): Promise<void> {
    await this.#send(`drop ${contentId}\n`)
  }

  close(): void {
    this.#closed = true
    this.#socket.destroy()
  }

  #send(command: string): Promise<string> {
    if (this.#socket.destroyed) return Promise.reject(new Error('the process is gone'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#socket.write(command, 'latin1')
    })
  }

  #take(text: string): void {
    this.#received += text
    const lines = this.#received.split('\n')
    this.#received = lines.pop() ?? ''
    for (const line of lines) this.#waiting.shift()?.resolve(line)
  }

  #end(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the process ended before it answered'))
    if (!this.#closed) this.#onLost()
  }
}
