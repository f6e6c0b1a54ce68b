import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Component, Logger } from '@spout/runtime'
import { http } from '@spout/runtime/node-http'
import type { FastifyInstance } from 'fastify'
import { LOCAL_ADDRESS } from '../authn/login-source.ts'
import { aheadOfHandlers, type TakeRequest } from './ahead-of-handlers.ts'
import { setPeerAddress } from './peer-address.ts'

export interface LocalSocketOptions {
  readonly app: FastifyInstance
  /** Sees requests before the API. Default: nobody. */
  readonly ahead?: TakeRequest | null
  readonly path: string
  readonly log: Logger
}

/** Size of `sun_path` in unix(7), with its terminator. */
const MAX_PATH_BYTES = 107

/**
 * Serves the same API on a UNIX socket in the state directory, by plain HTTP, to users who may write to its files. So
 * an administrator can always log in from the machine itself: failed logins of others do not count there.
 */
export class LocalSocket implements Component {
  readonly name = 'local-socket'
  readonly #options: LocalSocketOptions
  #server: Server | null = null

  constructor(options: LocalSocketOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { app, ahead, path, log } = this.#options
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
      log.warn({ event: 'local-socket-left-out', path }, 'the state directory has too long a path for a socket')
      return
    }
    removeSocket(path)
    const server = http.createServer({ keepAliveTimeout: 1000 }, app.routing)
    if (ahead) aheadOfHandlers(server, ahead)
    server.on('connection', (socket) => setPeerAddress(socket, LOCAL_ADDRESS))
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      // A process that may not write to the socket cannot connect.
      server.listen({ path, readableAll: false, writableAll: false }, resolve)
    })
    chmodSync(path, 0o600)
    server.on('error', (error) => log.error({ event: 'local-socket-failed', err: error }, 'local socket failed'))
  }

  async stop(): Promise<void> {
    const server = this.#server
    if (server === null) return
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  }
}

/** Removes a socket whose process has gone. */
function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path)
}
