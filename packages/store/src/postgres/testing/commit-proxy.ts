import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'

/** What becomes of the next COMMIT: it arrives and its answer is lost; or it is lost itself, and the server waits for it. */
type Loss = 'answer' | 'question'

/** `Q`, the length, and the text: a simple query (postgresql.org/docs/15/protocol-message-formats.html). */
const COMMIT = Buffer.from([0x51, 0, 0, 0, 11, ...Buffer.from('COMMIT\0')])

let started = 0

/** Stands between a store and its server, and loses what a broken network would. */
export class CommitProxy {
  readonly host: string
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #loss: Loss | null = null
  #isCut = false

  private constructor(directory: string, target: string) {
    this.host = directory
    this.port = 6000 + started++
    this.#server = createServer((client) => this.#accept(client, target))
  }

  /** @param directory of the server's UNIX socket; the proxy's is there, too */
  static async start(directory: string): Promise<CommitProxy> {
    const proxy = new CommitProxy(directory, path.join(directory, '.s.PGSQL.5432'))
    proxy.#server.listen(path.join(directory, `.s.PGSQL.${proxy.port}`))
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** Resolves when a COMMIT was lost in this way, and the client's connection with it. */
  lose(loss: Loss): Promise<unknown> {
    this.#loss = loss
    return once(this.#server, 'lost')
  }

  /** Ends all connections, and takes no new ones. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket, target: string): void {
    if (this.#isCut) {
      client.destroy()
      return
    }
    const server = connect(target)
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    }
    let isHeld = false
    server.on('data', (bytes: Buffer) => isHeld || client.write(bytes))
    server.on('close', () => client.destroy())
    client.on('close', () => isHeld || server.destroy())
    client.on('data', (bytes: Buffer) => {
      const loss = this.#loss
      if (loss === null || !bytes.equals(COMMIT)) {
        server.write(bytes)
        return
      }
      this.#loss = null
      isHeld = true
      if (loss === 'answer') server.write(bytes)
      client.destroy()
      this.#server.emit('lost')
    })
  }
}
