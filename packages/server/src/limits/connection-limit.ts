import type { Server, Socket } from 'node:net'
import { sourceOf } from '../authn/login-source.ts'

export interface ConnectionLimits {
  /** Open at a time, of everybody. */
  readonly most: number
  /** Of one IPv4 address or IPv6 /64. */
  readonly mostOfSource: number
}

/**
 * Ends connections beyond a limit as they come, before anything is read from them. A server that is full goes on with
 * those that are open.
 */
export function limitConnections(server: Server, { most, mostOfSource }: ConnectionLimits): void {
  const open = new Map<string, number>()
  let all = 0
  server.on('connection', (socket: Socket) => {
    const source = sourceOf(socket.remoteAddress ?? '')
    const own = open.get(source) ?? 0
    if (all >= most || own >= mostOfSource) {
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
