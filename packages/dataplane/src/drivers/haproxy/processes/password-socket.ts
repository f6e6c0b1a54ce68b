import { ReplySocket } from '@spout/sys'

/** A permanent connection to `spout-passwords` (`native/passwords/agent.h`). Its end tells that the process is gone. */
export class PasswordSocket {
  readonly #socket: ReplySocket

  private constructor(socket: ReplySocket) {
    this.#socket = socket
  }

  /** @param onLost called once when the connection ends other than by `close` @throws Error */
  static async connect(path: string, onLost: () => void): Promise<PasswordSocket> {
    return new PasswordSocket(
      await ReplySocket.connect(path, {
        requestEncoding: 'latin1',
        replyEnd: '\n',
        peer: 'the process',
        onLost,
        lost: (message) => new Error(message),
      }),
    )
  }

  /** Content ids of the lists that it has. */
  async lists(): Promise<ReadonlySet<string>> {
    return new Set((await this.#ask('list\n')).split(' ').filter((id) => id !== ''))
  }

  /** @param list the content of its file @throws Error if the process refuses it */
  async put(contentId: string, list: string): Promise<void> {
    const reply = await this.#ask(`put ${contentId} ${list.length}\n${list}`)
    if (reply !== 'ok') throw new Error(reply)
  }

  async drop(contentId: string): Promise<void> {
    await this.#ask(`drop ${contentId}\n`)
  }

  close(): void {
    this.#socket.close()
  }

  async #ask(command: string): Promise<string> {
    const [reply = ''] = await this.#socket.send([command])
    return reply
  }
}
