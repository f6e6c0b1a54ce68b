import { execFile } from 'node:child_process'
import net from 'node:net'
import { promisify } from 'node:util'
import type { Service } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { afterAll, expect, it } from 'vitest'
import { ask, dial, httpMember, MEMBER_ADDRESS, tcpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'

/** Each time-out of a listener ends what it is for, where the others would wait for a minute. */

const { lab, host, started } = await proxyLabOfFile()
const run = promisify(execFile)
const SHORT = 300
const LONG = { clientMs: 60_000, connectMs: 60_000, memberMs: 60_000 }

/** Accepts connections and sends nothing. */
async function silentMember() {
  const sockets: net.Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { name: 'silent', port: (server.address() as net.AddressInfo).port, close }
}
const silent = await started(silentMember())
const echo = await started(tcpMember('echo'))
const answering = await started(httpMember('answering'))
/** A member whose packets are dropped, so that connecting times out. */
const UNREACHED = { name: 'unreached', port: 9 }
const inNamespace = (text: string) => run('ip', ['netns', 'exec', lab.place.namespace!, 'nft', text])
await inNamespace(
  [
    ...['add table inet unreached', 'add chain inet unreached out { type filter hook output priority 0; }'],
    `add rule inet unreached out tcp dport ${UNREACHED.port} drop`,
  ].join('\n'),
)
afterAll(() => inNamespace('delete table inet unreached').catch(() => {}))

interface Named {
  readonly name: string
  readonly port: number
}

/** A listener of each kind with these time-outs; returns their ports. */
async function listeners(member: Named, short: Partial<Service['timeouts']>, ofTcp: Named = member) {
  const driver = lab.driver()
  const timeouts = { ...LONG, ...short }
  await put(
    driver,
    sampleEntry(
      'web',
      [
        sampleService('web-80', { timeouts }),
        sampleService('tcp-7', { protocol: 'tcp-proxy', port: 7, pool: 2, timeouts }),
      ],
      [
        samplePool(1, { members: [memberAt(member)] }),
        samplePool(2, { mode: 'tcp-proxy', members: [memberAt(ofTcp)] }),
      ],
    ),
  )
  return { web: portOf(driver, 'web-80'), tcp: portOf(driver, 'tcp-7') }
}

it('memberMs ends the wait for a response with 504, and a connection of TCP without data', async () => {
  const { web, tcp } = await listeners(silent, { memberMs: SHORT })
  expect((await ask({ host, port: web })).status).toBe(504)
  const connection = await dial(host, tcp)
  connection.write('x')
  await waitFor(() => connection.closed(), { what: 'the end of the connection' })
})

it('connectMs ends the wait for a connection to a member with 503, and closes one of TCP', async () => {
  const { web, tcp } = await listeners(UNREACHED, { connectMs: SHORT })
  expect((await ask({ host, port: web })).status).toBe(503)
  const connection = await dial(host, tcp)
  await waitFor(() => connection.closed(), { what: 'the end of the connection' })
})

it('memberMs ends a request whose client stops in its body, too: HAProxy waits for the member then', async () => {
  const { web } = await listeners(silent, { memberMs: SHORT })
  const upload = await dial(host, web)
  upload.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf')
  await waitFor(() => upload.received().startsWith('HTTP/1.1 504 '), { what: 'the end of the request' })
  upload.end()
})

it('clientMs ends a connection of HTTP between requests, and one of TCP whose client is silent', async () => {
  const { web, tcp } = await listeners(answering, { clientMs: SHORT }, echo)
  const idle = await dial(host, web)
  idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await waitFor(() => idle.received().startsWith('HTTP/1.1 200 '), { what: 'the answer' })
  await waitFor(() => idle.closed(), { what: 'the end of the idle connection' })
  const connection = await dial(host, tcp)
  connection.write('hello')
  await waitFor(() => connection.received() === 'hello', { what: 'the echo' })
  await waitFor(() => connection.closed(), { what: 'the end of the connection' })
})

it('least-connections gives the next connection to the member with fewest, whoever was next', async () => {
  const other = await started(tcpMember('other'))
  const driver = lab.driver()
  const members = [memberAt(echo), memberAt({ name: 'other', port: other.port }, { id: 'm2' })]
  const pool = samplePool(2, { mode: 'tcp-proxy', algorithm: 'least-connections', members })
  await put(driver, sampleEntry('tcp', [sampleService('tcp-7', { protocol: 'tcp-proxy', port: 7, pool: 2 })], [pool]))
  const [before, otherBefore] = [echo.count(), other.count()]
  const said = async () => {
    const connection = await dial(host, portOf(driver, 'tcp-7'))
    connection.write('x')
    await waitFor(() => connection.received() === 'x', { what: 'the echo' })
    return connection
  }
  const open: Awaited<ReturnType<typeof dial>>[] = []
  for (let number = 0; number < 8; number++) open.push(await said())
  expect([echo.count() - before, other.count() - otherBefore]).toEqual([4, 4])
  // All connections of one member end, so it gets the next four.
  const [first] = open
  const ofFirst = open.filter((_, at) => at % 2 === open.indexOf(first!) % 2)
  for (const connection of ofFirst) connection.end()
  const current = async () => (await driver.stats()).find(({ listenerId }) => listenerId === 'tcp-7')!.activeConnections
  await waitFor(async () => (await current()) === 4, { what: 'four connections to be left' })
  const counts = [echo.count(), other.count()]
  for (let number = 0; number < 4; number++) open.push(await said())
  expect([echo.count() - counts[0]!, other.count() - counts[1]!].sort()).toEqual([0, 4])
  for (const connection of open) connection.end()
})
