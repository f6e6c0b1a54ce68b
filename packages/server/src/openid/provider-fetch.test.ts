import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { providerFetch } from './provider-fetch.ts'

/** Answers that a good provider never gives. The rest is tested with a real one, in apps/control-plane. */
async function urlOf(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const get = (url: string, signal?: AbortSignal) =>
  providerFetch(null)(url, {
    method: 'GET',
    headers: {},
    body: undefined,
    redirect: 'manual',
    ...(signal && { signal }),
  })

test('a redirect is not followed', async () => {
  const url = await urlOf((_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
  expect((await get(url)).status).toBe(302)
})

test.each<[string, RequestListener, string]>([
  ['an answer without end', (_request, response) => response.end('x'.repeat(262_145)), 'longer than 262144 bytes'],
  ['a failure of its own', (_request, response) => response.writeHead(502).end('<html>'), 'it answered 502'],
  ['too many questions', (_request, response) => response.writeHead(429).end(), 'it answered 429'],
  ['no answer', (request) => request.socket.destroy(), 'ECONNRESET'],
  [
    'half an answer',
    (request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half')
      setImmediate(() => request.socket.destroy())
    },
    'aborted|ECONNRESET',
  ],
])('%s is as good as none', async (_, answer, reason) => {
  const asked = get(await urlOf(answer))
  await expect(asked).rejects.toMatchObject({ name: 'ProviderAway', message: expect.stringMatching(reason) })
})

test.each<[string, RequestListener]>([
  ['answer', () => {}],
  ['answer to its end', (_request, response) => response.writeHead(200).write('{')],
])('who does not %s in time is away', async (_, answer) => {
  const asked = get(await urlOf(answer), AbortSignal.timeout(100))
  await expect(asked).rejects.toMatchObject({ name: 'ProviderAway', message: 'it did not answer in time' })
})
