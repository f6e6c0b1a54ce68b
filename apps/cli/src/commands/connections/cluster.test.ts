import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '@spout/testkit/free-port'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withCluster } from './cluster.ts'

let directory: string
const servers: Server[] = []
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-cluster-'))
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  rmSync(directory, { recursive: true })
})

/** A kubeconfig for a server on this machine. */
function configFor(port: number): string {
  const file = path.join(directory, 'kubeconfig')
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: {} }],
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

async function listen(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const asked = (port: number, answersWithinMs?: number) =>
  withCluster(
    { kubeconfig: configFor(port) },
    'test',
    ({ transport }) => transport.request({ method: 'GET', path: '/api' }),
    answersWithinMs,
  )

test('an API server that takes connections and says nothing is told by its URL', async () => {
  const port = await listen(createServer((socket) => socket.on('error', () => {})))
  const told = `The cluster at http://127.0.0.1:${port} is not available: GET /version: deadline: no `
  await expect(asked(port, 100)).rejects.toThrow(told)
})

test('one that is not there is told at once, by its URL', async () => {
  const port = await freePort()
  const told = `The cluster at http://127.0.0.1:${port} is not available: GET /version: connection: ECONNREFUSED`
  await expect(asked(port)).rejects.toThrow(told)
})

test('one that refuses to tell its version is asked', async () => {
  const answer: RequestListener = ({ url }, response) =>
    void response.writeHead(url === '/version' ? 403 : 200, { connection: 'close' }).end('{"kind":"APIVersions"}')
  const port = await listen(createHttpServer(answer))
  expect(await asked(port)).toEqual({ kind: 'APIVersions' })
})
