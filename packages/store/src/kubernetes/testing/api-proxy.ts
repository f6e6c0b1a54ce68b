import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * What becomes of the next write of an entry: it is carried out and its answer is lost; it is lost itself; it is held
 * back while its sender gives it up, and is carried out later; or it is held back and then answered, and whatever is
 * asked afterwards is lost.
 */
type Loss = 'answer' | 'question' | 'late' | 'rest'

/** Stands between a store and the API server, and loses what a broken network would. */
export class ApiProxy {
  readonly #server: Server
  readonly #target: URL
  readonly #agent: Agent
  readonly #sockets = new Set<Duplex>()
  readonly #events = new EventEmitter()
  #loss: Loss | null = null
  #losesAll = false
  #port = 0

  private constructor(target: URL, ca: string) {
    this.#target = target
    this.#agent = new Agent({ ca, keepAlive: true })
    this.#server = createServer((question, answer) => void this.#forward(question, answer))
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  /** @param ca PEM: of the API server's certificate */
  static async start(target: URL, ca: string): Promise<ApiProxy> {
    const proxy = new ApiProxy(target, ca)
    await proxy.mend()
    return proxy
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}`)
  }

  /**
   * Resolves when a write of an entry was lost in this way; for `late` and `rest`, with what carries it out, and tells its
   * status.
   */
  async lose(loss: Loss): Promise<() => Promise<number>> {
    this.#loss = loss
    const [carryOut] = (await once(this.#events, 'lost')) as [() => Promise<number>]
    return carryOut
  }

  /** Ends all connections, and takes no new ones. */
  async cut(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async mend(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.cut()
    this.#agent.destroy()
  }

  async #forward(question: IncomingMessage, answer: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of question) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
    if (this.#losesAll) {
      answer.destroy()
      return
    }
    const isEntry = /POST|PUT/.test(question.method ?? '') && body.includes('-slot-')
    const loss = isEntry ? this.#loss : null
    if (loss === null) return this.#relay(question, body, answer)
    this.#loss = null
    if (loss === 'rest') {
      this.#events.emit('lost', async () => {
        this.#losesAll = true
        this.#relay(question, body, answer)
        await once(answer, 'finish')
        return answer.statusCode
      })
      return
    }
    const carryOut = async (): Promise<number> => {
      const sent = this.#send(question, body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      await once(response, 'end')
      return response.statusCode ?? 0
    }
    if (loss === 'answer') await carryOut()
    answer.destroy()
    this.#events.emit('lost', carryOut)
  }

  #relay(question: IncomingMessage, body: Buffer, answer: ServerResponse): void {
    const sent = this.#send(question, body)
    answer.on('close', () => sent.destroy())
    sent.on('error', () => answer.destroy())
    sent.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers)
      answer.flushHeaders()
      response.pipe(answer)
      response.on('error', () => answer.destroy())
    })
  }

  #send({ method, url = '', headers }: IncomingMessage, body: Buffer) {
    const sent = request(new URL(url, this.#target), { method, agent: this.#agent, headers: { ...headers, host: '' } })
    sent.end(body)
    return sent
  }
}
