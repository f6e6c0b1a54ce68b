import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { MEMBER_ADDRESS } from './proxy-lab.ts'
import { type RequestsRead, readRequests } from './strict-reader.ts'

/** A member that keeps what it is sent as it came, and answers each request that the strict reader finds. */
export class StrictMember {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #connections: Buffer[] = []

  private constructor(answerTo: (requestLine: string) => string) {
    this.#server = createServer((socket) => {
      const index = this.#connections.push(Buffer.alloc(0)) - 1
      let answered = 0
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('data', (data: Buffer) => {
        const received = Buffer.concat([this.#connections[index]!, data])
        this.#connections[index] = received
        const { whole } = readRequests(received)
        for (; answered < whole.length; answered++) socket.write(answerTo(whole[answered]!))
      })
    })
  }

  /** @param answerTo gives the bytes of the answer to a request line */
  static async start(answerTo: (requestLine: string) => string): Promise<StrictMember> {
    const member = new StrictMember(answerTo)
    await new Promise<void>((resolve) => member.#server.listen(0, MEMBER_ADDRESS, resolve))
    return member
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** What came over each connection since the last `forget`. */
  get connections(): readonly Buffer[] {
    return this.#connections
  }

  get reads(): readonly RequestsRead[] {
    return this.#connections.map(readRequests)
  }

  /** Cuts its connections, and forgets what came over them. */
  forget(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#connections.length = 0
  }

  close(): void {
    this.forget()
    this.#server.close()
  }
}
