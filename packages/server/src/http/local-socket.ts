import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { Component, Logger } from '@spout/runtime'
import type { FastifyInstance } from 'fastify'
import { LOCAL_ADDRESS } from '../authn/login-source.ts'
import { setPeerAddress } from './peer-address.ts'

export interface LocalSocketOptions {
  readonly app: FastifyInstance
  readonly path: string
  readonly log: Logger
}

/** `sun_path` of unix(7) with its end. */
const MAX_PATH_BYTES = 107

/**
 * The same API on a UNIX socket in the state directory, plain HTTP, for who may write to files of this user: so that an
 * administrator gets in from the machine itself whatever happens outside. Failures of others do not count there.
 */
export class LocalSocket implements Component {
  readonly name = 'local-socket'
  readonly #options: LocalSocketOptions
  #server: Server | null = null

  constructor(options: LocalSocketOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { app, path, log } = this.#options
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
      log.warn({ event: 'local-socket-left-out', path }, 'the state directory has too long a path for a socket')
      return
    }
    removeSocket(path)
    const server = createServer({ keepAliveTimeout: 1000 }, app.routing)
    server.on('connection', (socket) => setPeerAddress(socket, LOCAL_ADDRESS))
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      // Neither readable nor writable for others: who may not write to it cannot connect.
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

/** A socket that a process left which is no more. */
function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path)
}
