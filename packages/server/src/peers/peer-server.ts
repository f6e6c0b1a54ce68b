import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { Component, Logger } from '@spout/runtime'
import { setPeerAddress } from '../http/peer-address.ts'
import { isControlPlane } from '../link/certificate-authority.ts'
import { CLIENT_HEADER } from './client-of-request.ts'
import type { PeerCredentials } from './peer-credentials.ts'
import { answerUnavailable } from './unavailable-answer.ts'

export interface PeerServerOptions {
  readonly credentials: PeerCredentials
  readonly listen: { readonly host: string; readonly port: number }
  /** The API of this process. */
  readonly serve: RequestListener
  /** Whether this process leads, so that it may answer for all. */
  readonly leads: () => boolean
  readonly log: Logger
}

const SSL_OP_NO_TICKET = 1 << 14
/** A client's own headers are limited by the process that took its request; it adds one. */
const MAX_HEADER_BYTES = 32_768
const HANDSHAKE_MS = 10_000
/** It leads no longer then, so what is still under way may be refused. */
const CLOSE_GRACE_MS = 1000

/**
 * Where the other control planes send the requests of their clients while this one leads. TLS 1.3, and nobody gets
 * further than the handshake without a control plane's certificate.
 */
export class PeerServer implements Component {
  readonly name = 'peer-server'
  readonly #options: PeerServerOptions
  /** Connections whose other end is a control plane. */
  readonly #peers = new WeakSet<object>()
  #server: Server | null = null

  constructor(options: PeerServerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { credentials, listen, log } = this.#options
    const server = createServer(
      {
        ...this.#context(),
        requestCert: true,
        rejectUnauthorized: true,
        handshakeTimeout: HANDSHAKE_MS,
        maxHeaderSize: MAX_HEADER_BYTES,
        // The other end closes idle connections, so no request meets one that this end has closed.
        keepAliveTimeout: 0,
        // A watch is one request, however long.
        requestTimeout: 0,
      },
      (request, response) => this.#take(request, response),
    )
    server.on('secureConnection', (socket: TLSSocket) => {
      if (isPeer(socket)) return void this.#peers.add(socket)
      log.warn({ event: 'peer-refused', from: socket.remoteAddress }, 'it has no certificate of a control plane')
      socket.destroy()
    })
    credentials.onRenewed(() => server.setSecureContext(this.#context()))
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(listen, resolve)
    })
    server.on('error', (error) => log.error({ event: 'peer-server-failed', err: error }, 'the peer server failed'))
  }

  async stop(): Promise<void> {
    const server = this.#server
    if (server === null) return
    const cutOff = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS)
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeIdleConnections()
    })
    clearTimeout(cutOff)
  }

  #context() {
    const { ca, current } = this.#options.credentials
    return {
      ca,
      cert: current.certificate,
      key: current.key,
      minVersion: 'TLSv1.3',
      // No session is resumed, so each connection shows its certificate.
      secureOptions: SSL_OP_NO_TICKET,
    } as const
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { leads, serve } = this.#options
    const client = request.headers[CLIENT_HEADER]
    if (!this.#peers.has(request.socket) || typeof client !== 'string') {
      request.socket.destroy()
      return
    }
    if (!leads()) {
      answerUnavailable(response, 'the one that was asked leads no longer')
      return
    }
    delete request.headers[CLIENT_HEADER]
    // One request at a time is under way on a connection.
    setPeerAddress(request.socket, client)
    serve(request, response)
  }
}

function isPeer(socket: TLSSocket): boolean {
  const certificate: X509Certificate | undefined = socket.getPeerX509Certificate()
  return socket.authorized && certificate !== undefined && isControlPlane(certificate)
}
