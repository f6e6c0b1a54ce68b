import type { Server, Socket } from 'node:net'
import type { Cidr } from '@spout/net'
import { sourceOf } from '../authn/login-source.ts'
import { isTrustedProxy } from '../http/client-address.ts'

export interface ConnectionLimits {
  /** Limit of open connections in total. */
  readonly most: number
  /** Limit for one IPv4 address or IPv6 /64. */
  readonly mostOfSource: number
  /** Proxies carry connections of many clients, so theirs count in the total only. */
  readonly trustedProxies?: readonly Cidr[]
}

/** Closes connections over a limit as they arrive, before anything is read from them. Open connections go on. */
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
