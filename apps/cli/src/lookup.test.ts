import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Endpoints } from '@spout/client/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listOf } from './lookup.ts'
import { domain } from './resources/domains.ts'
import { address, addressPool, network } from './resources/system.ts'

let server: Server
let asked: (string | undefined)[]

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url)
    response.setHeader('content-type', 'application/json').end('{"items":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => server.close())

test.each([
  [address, '?project=p'],
  [network, '?project=p'],
  [domain, '?project=p'],
  [addressPool, ''],
])('names are looked for in the project, if projects own the objects: $noun', async ({ path }, query) => {
  asked = []
  const endpoints = new Endpoints([`http://127.0.0.1:${(server.address() as AddressInfo).port}`])
  await listOf({ endpoints, token: 't', projectId: 'p' }, path)
  expect(asked).toEqual([`/api/v1${path}${query}`])
})
