import type { Socket } from 'node:net'

/** Sets the address of a socket's other end for limits, logs and `request.ip`. */
export const setPeerAddress = (socket: Socket, address: string): void => {
  Object.defineProperty(socket, 'remoteAddress', { value: address, configurable: true })
}
