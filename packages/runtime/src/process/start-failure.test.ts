import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { startFailure } from './start-failure.ts'

const servers: Server[] = []
const listen = (host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    servers.push(server)
    server.once('error', reject).listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

describe('why a process could not start', () => {
  test('a port in use: where, why, and what to do, without a stack', async () => {
    const port = await listen('127.0.0.1', 0)
    const error = await listen('127.0.0.1', port).catch((cause: unknown) => cause)
    expect(startFailure(error)).toBe(
      `cannot listen on 127.0.0.1:${port}: another process has that port (\`ss -ltnp\` names it); end it, or choose another port`,
    )
  })

  test('an address that this machine does not have', async () => {
    const error = await listen('192.0.2.1', 9130).catch((cause: unknown) => cause)
    expect(startFailure(error)).toBe('cannot listen on 192.0.2.1:9130: this machine does not have that address')
  })

  test('a store in use by another process', () => {
    const words = 'The store does not accept writes: spout.db is in use by process 1: end that one first'
    expect(startFailure(Object.assign(new Error(words), { name: 'SpoutError', kind: 'unavailable' }))).toBe(words)
  })

  test('a bug keeps its stack', () => {
    expect(startFailure(new TypeError('x is not a function'))).toContain('start-failure.test.ts')
  })
})
