import type { Server, Socket } from 'node:net'
import type { Cidr } from '@spout/net'
import type { Logger } from '@spout/runtime/logger'
import { isTrustedProxy } from './client-address.ts'
import { setPeerAddress } from './peer-address.ts'
import { readProxyHeader } from './proxy-header.ts'

export interface ProxyProtocolOptions {
  readonly trustedProxies: readonly Cidr[]
  readonly log: Logger
  /** A proxy sends the header at once. A connection without it after this time is closed. */
  readonly headerTimeoutMs?: number
}

/**
 * Connections from trusted proxies start with a PROXY header. It is removed before TLS and HTTP, and the connection
 * then has the client's address. Connections from elsewhere start without one.
 */
export function acceptProxyHeaders(server: Server, options: ProxyProtocolOptions): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  /** A TLS socket is another object than its connection, and must have the same address. */
  const clients = new Map<string, string>()
  server.prependListener('secureConnection', (socket: Socket) => {
    const client = clients.get(peerOf(socket))
    if (client !== undefined) setPeerAddress(socket, client)
  })
  const accept = (socket: Socket, client: string | null) => {
    if (client !== null) {
      const peer = peerOf(socket)
      clients.set(peer, client)
      socket.once('close', () => clients.delete(peer))
      setPeerAddress(socket, client)
    }
    for (const listener of listeners) listener.call(server, socket)
  }
  server.on('connection', (socket: Socket) => {
    if (isTrustedProxy(options.trustedProxies, socket.remoteAddress ?? '')) takeHeader(socket, options, accept)
    else accept(socket, null)
  })
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`

function takeHeader(
  socket: Socket,
  { log, headerTimeoutMs = 5000 }: ProxyProtocolOptions,
  accept: (socket: Socket, client: string | null) => void,
): void {
  let read = Buffer.alloc(0)
  const refuse = (reason: string) => {
    log.info({ event: 'proxy-header-refused', proxy: socket.remoteAddress, reason }, 'a connection was cut off')
    socket.destroy()
  }
  const timer = setTimeout(() => refuse(`no header within ${headerTimeoutMs} ms`), headerTimeoutMs)
  const onEnd = () => socket.destroy()
  const onError = () => socket.destroy()
  const finish = () => {
    clearTimeout(timer)
    socket.off('readable', onReadable)
    socket.off('end', onEnd)
    socket.off('error', onError)
    socket.off('close', finish)
  }
  const onReadable = () => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      read = Buffer.concat([read, chunk])
      try {
        const header = readProxyHeader(read)
        if (header === null) continue
        finish()
        if (read.length > header.lengthBytes) socket.unshift(read.subarray(header.lengthBytes))
        return accept(socket, header.address)
      } catch (error) {
        return refuse(error instanceof Error ? error.message : String(error))
      }
    }
  }
  socket.on('readable', onReadable)
  socket.on('end', onEnd)
  socket.on('error', onError)
  socket.on('close', finish)
}
