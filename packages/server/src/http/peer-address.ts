import type { Socket } from 'node:net'

/** Says who is at the other end of a socket, for all that ask it: limits, logs and `request.ip`. */
export const setPeerAddress = (socket: Socket, address: string): void => {
  Object.defineProperty(socket, 'remoteAddress', { value: address, configurable: true })
}
