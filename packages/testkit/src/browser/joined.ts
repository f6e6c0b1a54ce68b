import type { Socket } from 'node:net'

/** Passes on what either side says. When one goes, the other does. */
export function joined(client: Socket, server: Socket): void {
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.pipe(other)
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
}
