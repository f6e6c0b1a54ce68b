import http from 'node:http'
import http2 from 'node:http2'
import type net from 'node:net'
import { waitFor } from '@spout/testkit'
import { expect, it } from 'vitest'
import { httpMember, MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { memberAt, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'

/** Responses and connections that do not end by themselves. */

const { lab, host, started } = await proxyLabOfFile()

/** Sends an event when the test says so. */
async function tellingMember() {
  const readers: http.ServerResponse[] = []
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    readers.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const tell = (data: string) => {
    for (const reader of readers) reader.write(`data: ${data}\n\n`)
  }
  return {
    name: 'telling',
    port: (server.address() as net.AddressInfo).port,
    close,
    tell,
    readers: () => readers.length,
  }
}

it('server-sent events reach the client one by one, over HTTP/1.1 and HTTP/2', async () => {
  const member = await started(tellingMember())
  const driver = lab.driver()
  await put(driver, webEntry([memberAt(member)]))
  const port = portOf(driver, 'web-80')
  const received = { one: '', two: '' }
  const request = http.get({ host, port, agent: false }, (response) => {
    response.on('data', (part) => {
      received.one += part
    })
  })
  const session = http2.connect(`http://${host}:${port}`)
  const stream = session.request({ ':path': '/' })
  stream.on('data', (part) => {
    received.two += part
  })
  await waitFor(() => member.readers() === 2, { what: 'both readers' })
  let expected = ''
  for (const event of ['one', 'two', 'three']) {
    member.tell(event)
    expected += `data: ${event}\n\n`
    // Each is there before the next one is sent.
    await waitFor(() => Object.values(received).every((text) => text === expected), { what: `event ${event}` })
  }
  request.destroy()
  session.destroy()
})

it('a WebSocket of a client of HTTP/2 reaches a member of HTTP/1.1 (RFC 8441)', async () => {
  const member = await started(httpMember('web'))
  const driver = lab.driver()
  await put(driver, webEntry([memberAt(member)]))
  const session = http2.connect(`http://${host}:${portOf(driver, 'web-80')}`)
  await new Promise<void>((resolve) => session.once('remoteSettings', () => resolve()))
  expect(session.remoteSettings?.enableConnectProtocol).toBe(true)
  const stream = session.request(
    { ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/', 'sec-websocket-version': '13' },
    { endStream: false },
  )
  let [status, received] = [0, '']
  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0
  })
  stream.on('data', (part) => {
    received += part
  })
  await waitFor(() => status !== 0, { what: 'an answer' })
  expect(status).toBe(200)
  stream.write('hello')
  await waitFor(() => received === 'hello', { what: 'the echo' })
  session.destroy()
})
