import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'

let opened = 0

/** The way from a process to PostgreSQL, by a UNIX socket beside the server's own. It can be cut as a network is: in silence. */
export class CuttablePath implements AsyncDisposable {
  /** As a setting names it. */
  readonly server: string
  readonly #listening: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false

  private constructor(directory: string) {
    const port = 7000 + opened++
    this.server = `${directory}:${port}`
    this.#listening = createServer((socket) => this.#accept(socket, path.join(directory, '.s.PGSQL.5432')))
    this.#listening.listen(path.join(directory, `.s.PGSQL.${port}`))
  }

  /** @param directory of the server's UNIX socket */
  static async open(directory: string): Promise<CuttablePath> {
    const made = new CuttablePath(directory)
    await once(made.#listening, 'listening')
    return made
  }

  /** From now on nothing arrives, in either direction, and nobody is told. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** What was under way is lost. New connections get through. */
  mend(): void {
    this.#isCut = false
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.mend()
    this.#listening.close()
    await once(this.#listening, 'close')
  }

  #accept(client: Socket, target: string): void {
    const server = connect(target)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes: Buffer) => to.write(bytes))
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      if (this.#isCut) from.pause()
    }
  }
}
