import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { parseCidr } from '@spout/net'
import { afterEach, expect, test } from 'vitest'
import { type ConnectionLimits, limitConnections } from './connection-limit.ts'

let server: Server
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
})

/** Connects so many times; says how many were closed as they came, once all that stay have been answered. */
async function refusedOf(count: number, limits: ConnectionLimits): Promise<number> {
  server = createServer()
  limitConnections(server, limits)
  server.on('connection', (socket: Socket) => {
    if (!socket.destroyed) socket.write('x')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const outcomes = Array.from({ length: count }, async () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
    return Promise.race([
      once(socket, 'data').then(() => 0),
      new Promise<number>((resolve) => socket.once('close', () => resolve(1))),
    ])
  })
  return (await Promise.all(outcomes)).reduce((sum, each) => sum + each, 0)
}

test('connections of one address are limited', async () => {
  expect(await refusedOf(5, { most: 10, mostOfSource: 3 })).toBe(2)
})

test('a trusted proxy, which brings many clients, is limited by the total only', async () => {
  const trustedProxies = [parseCidr('127.0.0.0/8')]
  expect(await refusedOf(12, { most: 10, mostOfSource: 3, trustedProxies })).toBe(2)
})
