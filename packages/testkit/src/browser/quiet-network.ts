import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { joined } from './joined.ts'

const RELAY = path.join(import.meta.dirname, 'relay-program.ts')

/**
 * A network namespace with loopback alone, for a browser. Chromium breaks off what it loads whenever an interface of its
 * namespace comes or goes (`net::ERR_NETWORK_CHANGED`), and other tests' labs make and remove many. Servers on loopback of
 * this machine are at the same addresses and ports inside.
 */
export class QuietNetwork implements AsyncDisposable {
  readonly #directory: string
  readonly #relay: ChildProcess
  readonly #ready: Interface
  readonly #ways = new Map<string, Promise<Server>>()

  private constructor(directory: string, relay: ChildProcess) {
    this.#directory = directory
    this.#relay = relay
    this.#ready = createInterface({ input: relay.stdout! })
  }

  static create(): QuietNetwork {
    const start = 'ip link set lo up && exec "$0" "$1"'
    const argv = ['--net', '--', 'sh', '-c', start, process.execPath, RELAY]
    const relay = spawn('unshare', argv, { stdio: ['pipe', 'pipe', 'inherit'] })
    return new QuietNetwork(mkdtempSync(path.join(tmpdir(), 'spout-browser-')), relay)
  }

  /** A program that runs another one inside. */
  wrapped(program: string): string {
    const file = path.join(this.#directory, path.basename(program))
    writeFileSync(file, `#!/bin/sh\nexec nsenter --net=/proc/${this.#relay.pid}/ns/net -- ${program} "$@"\n`)
    chmodSync(file, 0o755)
    return file
  }

  /** Resolves once the server at this port of loopback can be reached from inside. It may start again meanwhile. */
  async reach(port: number, address = '127.0.0.1'): Promise<void> {
    const place = `${address}:${port}`
    const way = this.#ways.get(place) ?? this.#open(address, port)
    this.#ways.set(place, way)
    await way
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of await Promise.all(this.#ways.values())) server.close()
    this.#relay.stdin?.end()
    await new Promise((resolve) => this.#relay.once('close', resolve))
    rmSync(this.#directory, { recursive: true })
  }

  async #open(address: string, port: number): Promise<Server> {
    const socket = path.join(this.#directory, `${address}-${port}`)
    const server = createServer((client) => joined(client, connect(port, address)))
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    const line = `${address} ${port} ${socket}`
    const isReady = new Promise<void>((resolve) => {
      const heard = (said: string): void => {
        if (said !== line) return
        this.#ready.off('line', heard)
        resolve()
      }
      this.#ready.on('line', heard)
    })
    this.#relay.stdin?.write(`${line}\n`)
    await isReady
    return server
  }
}
