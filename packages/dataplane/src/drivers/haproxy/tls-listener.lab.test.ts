import { once } from 'node:events'
import net from 'node:net'
import { connect } from 'node:tls'
import type { NodeRoute, Service } from '@spout/model'
import { issueCertificate } from '@spout/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'

const { lab, host, started } = await proxyLabOfFile()
const SERVICE = 'tls-853'

type Named = Awaited<ReturnType<typeof greeter>>
let a: Named
let b: Named

beforeAll(async () => {
  a = await started(greeter('a'))
  b = await started(greeter('b'))
})

/** A member that speaks first, as those of mail do, and then sends back what it gets. It knows nothing of TLS. */
async function greeter(name: string) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.write(`${name} `)
    socket.pipe(socket)
  })
  server.listen(0, MEMBER_ADDRESS)
  await once(server, 'listening')
  return { name, port: (server.address() as net.AddressInfo).port, close: () => void server.close() }
}

const toPools = (...pools: readonly number[]): NodeRoute['action'] => ({
  type: 'forward',
  pools: pools.map((pool) => ({ pool, weight: 1 })),
})
const onHost = (value: string, compare: 'exact' | 'any-labels' = 'exact') => ({
  ...({ on: 'host', compare, not: false } as const),
  values: [value],
})

function entryOf(routes: readonly NodeRoute[], { pool = null, ...service }: Partial<Service> = {}) {
  const { certificate, key } = issueCertificate({ names: ['a.example', '*.w.example'] })
  const { id, contentId } = lab.storeCertificate(certificate + key)
  return sampleEntry(
    'names',
    [
      sampleService(SERVICE, {
        ...{ protocol: 'tls', port: 853, pool, ...(routes.length > 0 && { routes }) },
        tls: { certificates: [{ id, contentId }], unknownNames: 'default', minVersion: '1.2', alpn: [] },
        ...service,
      }),
    ],
    [a, b].map((member, at) => samplePool(at + 1, { mode: 'tcp-proxy', members: [memberAt(member)] })),
  )
}

/** `once` would reject when the connection is reset, which is an answer, too. */
const closedBy = (socket: net.Socket) => new Promise((resolve) => socket.on('close', resolve))

/** What a client gets that sends `ping` and closes; `closed` for nothing. @param name null names none */
async function ask(port: number, name: string | null): Promise<string> {
  const socket = connect({ host, port, rejectUnauthorized: false, ...(name !== null && { servername: name }) })
  socket.setTimeout(5000, () => socket.destroy())
  socket.on('error', () => {})
  socket.once('secureConnect', () => socket.end('ping'))
  let text = ''
  socket.on('data', (part: Buffer) => {
    text += part.toString()
  })
  await closedBy(socket)
  return text === '' ? 'closed' : text
}

describe('a listener that ends TLS of any connection', () => {
  it('sends each name to its pool, whose members get what is within', async () => {
    const driver = lab.driver()
    await put(
      driver,
      entryOf([
        sampleRoute(1, toPools(1), [onHost('a.example')]),
        sampleRoute(2, toPools(2), [onHost('w.example', 'any-labels')]),
      ]),
    )
    const port = portOf(driver, SERVICE)
    for (const [name, expected] of [
      ['a.example', 'a ping'],
      ['A.Example', 'a ping'],
      ['x.w.example', 'b ping'],
      ['x.y.w.example', 'b ping'],
      ['other.example', 'closed'],
      [null, 'closed'],
    ] as const)
      expect(await ask(port, name), String(name)).toBe(expected)
  })

  it('has a default pool for what no route takes, and shares by weight', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([sampleRoute(1, toPools(1, 2), [onHost('a.example')])], { pool: 2 }))
    const port = portOf(driver, SERVICE)
    expect([await ask(port, 'other.example'), await ask(port, null)]).toEqual(['b ping', 'b ping'])
    const seen = new Set<string>()
    for (let at = 0; at < 24; at++) seen.add(await ask(port, 'a.example'))
    expect(seen).toEqual(new Set(['a ping', 'b ping']))
  })

  it('changes its routes without a reload', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([], { pool: 1 }))
    const port = portOf(driver, SERVICE)
    expect(await ask(port, 'a.example')).toBe('a ping')
    const { reloads } = driver.counters
    await put(driver, entryOf([sampleRoute(1, toPools(2), [onHost('a.example')])], { pool: 1 }))
    expect([await ask(port, 'a.example'), await ask(port, 'other.example')]).toEqual(['b ping', 'a ping'])
    expect(driver.counters.reloads).toBe(reloads)
  })

  it('refuses what is no TLS', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([], { pool: 1 }))
    const socket = net.connect({ host, port: portOf(driver, SERVICE) })
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1')
    })
    socket.end('GET / HTTP/1.0\r\n\r\n')
    await closedBy(socket)
    expect(text).not.toMatch(/^a |GET/)
  })
})
