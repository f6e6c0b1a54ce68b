import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a port of this machine that counts what passes. */
export interface CountingWay extends AsyncDisposable {
  readonly port: number
  /** Bytes to the port, and from it. */
  bytes(): { readonly up: number; readonly down: number }
}

/** Forwards connections from an address to a port of loopback. */
export async function countingWay(host: string, to: number): Promise<CountingWay> {
  let [up, down] = [0, 0]
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    near.on('data', (chunk) => {
      up += chunk.length
    })
    far.on('data', (chunk) => {
      down += chunk.length
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => ({ up, down }),
    [Symbol.asyncDispose]: async () => {
      for (const one of open) one.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
