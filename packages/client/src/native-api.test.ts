import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Endpoints } from './endpoints.ts'
import { NativeApi } from './native-api.ts'

/** Takes connections, reads, and says the given text and no more. */
async function silentServer(text: string): Promise<Server> {
  const server = createServer((socket) => void socket.on('error', () => {}).once('data', () => socket.write(text)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const servers: Server[] = []
beforeAll(async () => {
  servers.push(await silentServer(''), await silentServer('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'))
})
afterAll(() => {
  for (const server of servers) server.close()
})

test.each([
  ['not at all', 0],
  ['not to the end', 1],
])('a call that is answered %s is given up, as something that may work later', async (_, at) => {
  const { port } = servers[at]!.address() as AddressInfo
  const session = { endpoints: new Endpoints([`http://127.0.0.1:${port}`]), token: 't' }
  const api = new NativeApi({ session: async () => session, forget: () => {} }, 100)
  const error = await api.call('GET', '/networks').then(
    () => null,
    (thrown: Error) => thrown,
  )
  expect(error?.message).toMatch(/timeout/)
  expect(error?.name).not.toBe('Refused')
})
