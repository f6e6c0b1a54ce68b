import { rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { DataPlaneDriver, WantedEntry } from '../../contracts/driver.ts'
import { PROTOCOL_VERSION, type Request, type WireEntry } from '../../drivers/external/protocol.ts'

/** A driver of ours behind a socket, as an external one: every connection is an agent. */
export class ServedDriver implements AsyncDisposable {
  readonly socket: string
  readonly #driver: DataPlaneDriver
  readonly #connections = new Set<Socket>()
  readonly #server = createServer((connection) => this.#serve(connection))
  #adopted: WantedEntry[] = []

  private constructor(driver: DataPlaneDriver, socket: string) {
    this.#driver = driver
    this.socket = socket
  }

  static async listen(driver: DataPlaneDriver, socket: string): Promise<ServedDriver> {
    await rm(socket, { force: true })
    const served = new ServedDriver(driver, socket)
    await new Promise<void>((resolve) => served.#server.listen(socket, resolve))
    return served
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#connections) connection.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(connection: Socket): void {
    this.#connections.add(connection)
    connection.on('close', () => this.#connections.delete(connection))
    connection.on('error', () => connection.destroy())
    let last = Promise.resolve()
    createInterface(connection).on('line', (line) => {
      last = last.then(async () => {
        const answer = await this.#answer(line)
        if (!connection.destroyed) connection.write(`${JSON.stringify(answer)}\n`)
      })
    })
  }

  async #answer(line: string): Promise<object> {
    try {
      const fields = await this.#do(JSON.parse(line) as Request)
      return { ...fields, counters: this.#driver.counters }
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }

  async #do(request: Request): Promise<object> {
    switch (request.call) {
      case 'hello':
        return { version: PROTOCOL_VERSION, name: this.#driver.name, features: [...this.#driver.features] }
      case 'adopt':
        this.#adopted.push(...request.entries.map(wantedEntry))
        if (!request.more) await this.#driver.adopt(this.#adopted.splice(0))
        return {}
      case 'apply': {
        const put = request.put.map(wantedEntry)
        return { applied: await this.#driver.apply({ put, remove: request.remove }, new AbortController().signal) }
      }
      case 'observe':
        return { lost: await this.#driver.observe() }
      case 'stats':
        return { stats: await this.#driver.stats() }
      default:
        throw new Error(`there is no call ${(request as { readonly call?: unknown }).call}`)
    }
  }
}

const wantedEntry = ({ netns: _, down, shares, proxyPorts, ...entry }: WireEntry): WantedEntry => ({
  ...entry,
  down: new Set(down),
  shares: new Map(Object.entries(shares)),
  proxyPorts: new Map(Object.entries(proxyPorts).map(([id, port]) => [id, { port }])),
})
