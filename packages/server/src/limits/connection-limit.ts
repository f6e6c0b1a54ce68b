import type { Server, Socket } from 'node:net'
import type { Cidr } from '@spout/net'
import { sourceOf } from '../authn/login-source.ts'
import { isTrustedProxy } from '../http/client-address.ts'

export interface ConnectionLimits {
  /** Open at a time, of everybody. */
  readonly most: number
  /** Of one IPv4 address or IPv6 /64. */
  readonly mostOfSource: number
  /** Whose connections are those of many clients, and count in all alone. */
  readonly trustedProxies?: readonly Cidr[]
}

/**
 * Ends connections beyond a limit as they come, before anything is read from them. A server that is full goes on with
 * those that are open.
 */
export function limitConnections(server: Server, { most, mostOfSource, trustedProxies = [] }: ConnectionLimits): void {
  const open = new Map<string, number>()
  let all = 0
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const source = sourceOf(address)
    const own = open.get(source) ?? 0
    if (all >= most || (own >= mostOfSource && !isTrustedProxy(trustedProxies, address))) {
      socket.destroy()
      return
    }
    all++
    open.set(source, own + 1)
    socket.once('close', () => {
      all--
      const left = (open.get(source) ?? 1) - 1
      if (left === 0) open.delete(source)
      else open.set(source, left)
    })
  })
}
