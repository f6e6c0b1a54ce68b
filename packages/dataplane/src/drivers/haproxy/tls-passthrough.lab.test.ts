import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import net from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { NodePool, NodeRoute, RouteCondition, Service } from '@spout/model'
import { type Issued, issueCertificate, waitFor } from '@spout/testkit'
import { matchRoutes } from '@spout/testkit/match-routes'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { clientHello, inRecords } from '../../testing/haproxy/client-hello.ts'
import { crowd, type LabMember, MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { sendRaw } from '../../testing/haproxy/send-raw.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { curl, sClient, shake } from '../../testing/haproxy/tls-client.ts'
import { type SeenByMember, tlsMember } from '../../testing/haproxy/tls-member.ts'
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'

const { lab, host, started } = await proxyLabOfFile()
const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
const authority = issueCertificate({ isAuthority: true })
const authorityFile = join(lab.certificateDirectory, 'authority.crt')
const NAMES = { a: ['a.example', 'x.w.example'], b: ['b.example', 'y.w.example'] } as const
const SERVICE = 'names-443'

let a: LabMember
let b: LabMember

beforeAll(async () => {
  writeFileSync(authorityFile, authority.certificate)
  a = await started(tlsMember('a', issueCertificate({ issuer: authority, names: NAMES.a })))
  b = await started(tlsMember('b', issueCertificate({ issuer: authority, names: NAMES.b })))
})

const toPools = (...pools: readonly (number | null)[]): NodeRoute['action'] => ({
  type: 'forward',
  pools: pools.map((pool) => ({ pool, weight: 1 })),
})
const onHost = (value: string, compare: 'exact' | 'one-label' | 'any-labels' = 'exact'): RouteCondition => ({
  ...{ on: 'host', compare, values: [value], not: false },
})

/** Pools are numbered from 1, in this order. */
const entryOf = (
  members: readonly Pick<LabMember, 'name' | 'port'>[],
  routes: readonly NodeRoute[],
  { pool, ...service }: Partial<Service> = {},
  pools: Partial<NodePool> = {},
) =>
  sampleEntry(
    'names',
    [
      sampleService(SERVICE, {
        ...{ protocol: 'tls-passthrough', port: 443, pool: pool ?? null },
        ...(routes.length === 0 ? {} : { routes }),
        ...service,
      }),
    ],
    members.map((member, at) => samplePool(at + 1, { mode: 'tcp-proxy', members: [memberAt(member)], ...pools })),
  )

const BY_NAME = [
  sampleRoute(1, toPools(1), [onHost('a.example')]),
  sampleRoute(2, toPools(2), [onHost('b.example')]),
  sampleRoute(3, toPools(1), [onHost('w.example', 'one-label')]),
  sampleRoute(4, toPools(2), [onHost('w.example', 'any-labels')]),
]

/** Whose certificate the client is shown: `a` or `b`; else the alert. */
async function shownBy(port: number, name: string | null): Promise<string> {
  const shown = await shake({ host, port }, name)
  if ('alert' in shown) return shown.alert
  return shown.names.includes('DNS:a.example') ? 'a' : 'b'
}

const sendTo = (port: number, pieces: readonly Uint8Array[], halfClose = false): Promise<Buffer> =>
  sendRaw({ host, port }, pieces, halfClose)

/** A member that keeps what each client sent, answers with its name once it has `after` bytes, and closes. */
async function rawMember(name: string, after = 1) {
  const seen: Buffer[] = []
  const server = net.createServer((socket) => {
    const at = seen.push(Buffer.alloc(0)) - 1
    socket.on('error', () => {})
    socket.on('data', (part: Buffer) => {
      seen[at] = Buffer.concat([seen[at]!, part])
      if (seen[at].length >= after) socket.end(name)
    })
  })
  server.listen(0, MEMBER_ADDRESS)
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  return { name, port, count: () => seen.length, seen, close: () => void server.close() }
}

describe('a listener that passes TLS on', () => {
  it('sends each name to its pool, whose members show their own certificates', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([a, b], BY_NAME, { pool: 2 }))
    const port = portOf(driver, SERVICE)
    for (const [name, member] of [
      ['a.example', 'a'],
      ['A.Example', 'a'],
      ['b.example', 'b'],
      ['x.w.example', 'a'],
      ['x.y.w.example', 'b'],
      ['w.example', 'b'],
      ['other.example', 'b'],
      [null, 'b'],
    ] as const)
      expect(await shownBy(port, name), String(name)).toBe(member)
    expect(driver.counters.reloads).toBe(0)
  })

  it('leaves the session between client and member: HTTP/2, names, certificates of clients', async () => {
    const driver = lab.driver()
    const clients = issueCertificate({ isAuthority: true })
    const client = issueCertificate({ issuer: clients, commonName: 'alice' })
    const careful = await started(
      tlsMember('c', issueCertificate({ issuer: authority, names: ['c.example'] }), clients),
    )
    await put(driver, entryOf([a, careful], [BY_NAME[0]!, sampleRoute(5, toPools(2), [onHost('c.example')])]))
    const to = { host, port: portOf(driver, SERVICE) }
    expect(await curl(to, 'a.example', authorityFile)).toEqual({ status: 200, version: '2' })
    expect(await curl(to, 'a.example', authorityFile, '--http1.1')).toEqual({ status: 200, version: '1.1' })
    await expect(curl(to, 'c.example', authorityFile)).rejects.toThrow(/certificate required|alert/)
    expect(await seenThrough(to.port, 'c.example', client)).toMatchObject({
      member: 'c',
      name: 'c.example',
      client: 'alice',
    })
    expect(await sClient(to, 'a.example', '-alpn', 'h2', '-CAfile', authorityFile)).toMatch(/ALPN protocol: h2/)
  })

  it('refuses names that no pool takes with an alert, and every name where it has no pool at all', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([a, b], [...BY_NAME, sampleRoute(6, toPools(null), [onHost('gone.example')])]))
    const to = { host, port: portOf(driver, SERVICE) }
    for (const name of ['other.example', 'gone.example'])
      expect(await sClient(to, name), name).toMatch(/unrecognized name/)
    expect(await shake(to, null)).toHaveProperty('alert')
    expect(await shownBy(to.port, 'a.example')).toBe('a')
    await put(driver, entryOf([a, b], []))
    expect(await sendTo(to.port, [inRecords(clientHello('a.example'))])).toHaveLength(0)
  })

  it('shares the connections of a route between its pools', async () => {
    const driver = lab.driver()
    const both = await Promise.all(['x', 'y'].map((name) => started(rawMember(name))))
    await put(driver, entryOf(both, [sampleRoute(1, toPools(1, 2, null), [onHost('a.example')])]))
    const answers = new Map<string, number>()
    for (let count = 0; count < 90; count++) {
      const answer = (await sendTo(portOf(driver, SERVICE), [inRecords(clientHello('a.example'))])).toString('hex')
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    // At a probability of one third, less than 8 of 90 come once in ten million runs.
    for (const answer of [Buffer.from('x'), Buffer.from('y'), Buffer.from([21, 3, 3, 0, 2, 2, 112])])
      expect(answers.get(answer.toString('hex')), answer.toString('hex')).toBeGreaterThan(7)
    expect(answers.size).toBe(3)
  })

  it('turns a name to another pool without a reload, and open connections go on', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([a, b], [BY_NAME[0]!]))
    const port = portOf(driver, SERVICE)
    const session = http2.connect(`https://a.example:${port}`, {
      createConnection: () =>
        connectTls({ host, port, servername: 'a.example', ALPNProtocols: ['h2'], rejectUnauthorized: false }),
    })
    expect(await seenOn(session)).toMatchObject({ member: 'a', version: '2.0' })
    await put(driver, entryOf([a, b], [sampleRoute(1, toPools(2), [onHost('a.example')]), BY_NAME[2]!]))
    expect(await shownBy(port, 'a.example')).toBe('b')
    expect(await shownBy(port, 'x.w.example')).toBe('a')
    expect(await seenOn(session)).toMatchObject({ member: 'a' })
    await put(driver, entryOf([a, b], [BY_NAME[3]!], { pool: 1 }))
    expect(await shownBy(port, 'a.example')).toBe('a')
    expect(await shownBy(port, 'x.w.example')).toBe('b')
    expect(await seenOn(session)).toMatchObject({ member: 'a' })
    session.close()
    expect(driver.counters.reloads).toBe(0)
  })

  it('finds the same pool as trying one route after the other', async () => {
    const driver = lab.driver()
    const members = await Promise.all(['p', 'q', 'r'].map((name) => started(rawMember(name))))
    const names = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 }).map((all) => all.join('.'))
    const condition = fc.record({
      on: fc.constant('host' as const),
      compare: fc.constantFrom('exact' as const, 'one-label' as const, 'any-labels' as const),
      values: fc.uniqueArray(names, { minLength: 1, maxLength: 3 }),
      not: fc.nat({ max: 4 }).map((one) => one === 0),
    })
    const route = fc.record({ conditions: fc.array(condition, { maxLength: 2 }), pool: fc.integer({ min: 1, max: 2 }) })
    // Each table uses both pools: a released backend's slot is free for another only later, and then the proxy is replaced.
    const kept = [1, 2].map((pool) => sampleRoute(100 + pool, toPools(pool), [onHost(`${pool}.kept.example`)]))
    await fc.assert(
      fc.asyncProperty(
        fc.array(route, { minLength: 1, maxLength: 8 }),
        fc.array(fc.option(names, { freq: 8 }), { minLength: 8, maxLength: 12 }),
        async (table, asked) => {
          const routes = table.map(({ conditions, pool }, at) => sampleRoute(at, toPools(pool), conditions))
          await put(driver, entryOf(members, [...routes, ...kept], { pool: 3 }))
          for (const name of asked) {
            const at = matchRoutes(routes, { method: 'GET', host: name, path: null })
            const expected = at === null ? 'r' : ['p', 'q'][table[at]!.pool - 1]
            const got = await sendTo(portOf(driver, SERVICE), [inRecords(clientHello(name))])
            expect(got.toString(), String(name)).toBe(expected)
          }
        },
      ),
      { numRuns: 25 },
    )
    expect(driver.counters.reloads).toBe(0)
  })
})

describe('a ClientHello', () => {
  it('is passed on as it came, in however many segments and records', async () => {
    const driver = lab.driver()
    for (const [padding, inOneRecord, segment] of [
      [0, 16_384, 1],
      [300, 20, 7],
      [9_000, 400, 500],
      [14_000, 16_384, 1_000],
    ] as const) {
      const hello = inRecords(clientHello('a.example', padding), inOneRecord)
      const member = await started(rawMember('m', hello.length))
      await put(driver, entryOf([member], [sampleRoute(1, toPools(1), [onHost('a.example')])]))
      const pieces = Array.from({ length: Math.ceil(hello.length / segment) }, (_, at) =>
        hello.subarray(at * segment, (at + 1) * segment),
      )
      expect((await sendTo(portOf(driver, SERVICE), pieces)).toString(), String(padding)).toBe('m')
      expect(member.seen[0]?.equals(hello)).toBe(true)
    }
  })

  it('in several records leads to a whole handshake', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([a, b], BY_NAME, { pool: 2 }))
    const plain = net.connect({ host, port: portOf(driver, SERVICE), noDelay: true })
    let first = true
    const inPieces = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _, done) => {
        const bytes = first ? inRecords(chunk.subarray(5), 60) : chunk
        first = false
        plain.write(bytes, () => done())
      },
    })
    plain.on('data', (part) => inPieces.push(part))
    const socket = connectTls({ socket: inPieces, servername: 'a.example', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    expect(socket.getPeerCertificate().subjectaltname).toContain('a.example')
    socket.destroy()
    plain.destroy()
  })

  it.each<[string, Buffer]>([
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')],
    ['a ClientHello of SSL 2', Buffer.from('802e0100020015000000100100800200800300800400800500800600400700c0', 'hex')],
    ['another handshake message', inRecords(Buffer.from([2, 0, 0, 4, 3, 3, 0, 0]))],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0, 22, 3, 1])],
    ['a record that is too long', Buffer.from([22, 3, 1, 0xff, 0xff, 1])],
    ['one in more than 32 records', inRecords(clientHello('a.example', 200), 4)],
    ['one that does not fit into a buffer', inRecords(clientHello('a.example', 17_000))],
    ['one that says more than it has', inRecords(truncated(clientHello('a.example')))],
  ])('that is %s is refused at once, and no member sees it', async (_, bytes) => {
    // If it waited for more, it would do so for longer than the test may take.
    const driver = lab.driver({ options: { requestWithinMs: 3_600_000 } })
    const member = await started(rawMember('m'))
    await put(driver, entryOf([member], [], { pool: 1 }))
    expect(await sendTo(portOf(driver, SERVICE), [bytes])).toHaveLength(0)
    expect(member.count()).toBe(0)
    expect((await sendTo(portOf(driver, SERVICE), [inRecords(clientHello(null))])).toString()).toBe('m')
  })

  it('that names what is no host goes where those without a name go', async () => {
    const driver = lab.driver()
    const members = await Promise.all(['x', 'y'].map((name) => started(rawMember(name))))
    const routes = [
      sampleRoute(1, toPools(1), [onHost('a.example')]),
      sampleRoute(2, toPools(1), [onHost('example', 'one-label')]),
    ]
    await put(driver, entryOf(members, routes, { pool: 2 }))
    for (const name of [
      'a.example/',
      '1:example',
      ':',
      'a.example\0',
      'a.example\n',
      '',
      '.',
      `${'a.'.repeat(130)}example`,
      'é.example',
    ])
      expect((await sendTo(portOf(driver, SERVICE), [inRecords(clientHello(name))])).toString(), name).toBe('y')
    expect((await sendTo(portOf(driver, SERVICE), [inRecords(clientHello('a.example.'))])).toString()).toBe('x')
  })

  it('may be wrong in any byte: the proxy answers or closes, and goes on', async () => {
    const driver = lab.driver()
    const member = await started(rawMember('m'))
    await put(driver, entryOf([member], BY_NAME.slice(0, 1), { pool: 1 }))
    const [before] = await processesOn(files.config)
    const hello = inRecords(clientHello('a.example', 20), 60)
    const change = fc.record({ at: fc.nat({ max: hello.length - 1 }), to: fc.nat({ max: 255 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: hello.length }),
        async (changes, length) => {
          const bytes = Buffer.from(hello.subarray(0, length))
          for (const { at, to } of changes) if (at < length) bytes[at] = to
          const got = await sendTo(portOf(driver, SERVICE), [bytes], true)
          expect(['', 'm', '\x15\x03\x03\0\x02\x02p']).toContain(got.toString('latin1'))
        },
      ),
      { numRuns: 150 },
    )
    expect((await sendTo(portOf(driver, SERVICE), [hello])).toString()).toBe('m')
    expect((await processesOn(files.config))[0]?.pid).toBe(before!.pid)
  })

  it('that does not come in time ends the connection, also of a client that sends on byte by byte', async () => {
    const driver = lab.driver()
    const member = await started(rawMember('m'))
    const timeouts = { clientMs: 50_000, connectMs: 5_000, memberMs: 50_000, inspectMs: 400 }
    await put(driver, entryOf([member], [], { pool: 1, timeouts }))
    const hello = inRecords(clientHello('a.example', 15_000))
    for (const begun of [Buffer.alloc(0), hello.subarray(0, 3), hello.subarray(0, 4_000)])
      expect(await sendTo(portOf(driver, SERVICE), [begun])).toHaveLength(0)
    const slow = crowd({ host, port: portOf(driver, SERVICE) }, '\x16\x03\x01')
    slow.enter(MEMBER_ADDRESS, 20)
    await waitFor(
      () => {
        slow.drip('\x01')
        return slow.closed() === 20
      },
      { what: 'the end of all slow clients' },
    )
    expect(member.count()).toBe(0)
  })

  it('that is waited for counts as a connection of its source', async () => {
    const driver = lab.driver({ options: { maxConnections: 40, requestWithinMs: 3_600_000 } })
    const member = await started(rawMember('m'))
    await put(driver, entryOf([member], [], { pool: 1 }))
    const to = { host, port: portOf(driver, SERVICE) }
    const slow = crowd(to, '\x16\x03\x01')
    try {
      slow.enter(await lab.source(7), 60)
      await waitFor(() => slow.pending() === 0 && slow.closed() > 0, { what: 'some to be turned away' })
      expect((await sendTo(to.port, [inRecords(clientHello(null))])).toString()).toBe('m')
      // The answered connection counts until the proxy has seen its end.
      await waitFor(
        async () => {
          const [stats] = await driver.stats()
          return stats!.activeConnections > 0 && stats!.activeConnections <= 20
        },
        { what: 'at most half of the connections to be this source’s' },
      )
    } finally {
      slow.end()
    }
  })
})

describe('members behind it', () => {
  it('take over for one that cannot be reached', async () => {
    const driver = lab.driver()
    const gone = await rawMember('gone')
    gone.close()
    const alive = await started(rawMember('alive'))
    const members = [memberAt(gone), memberAt(alive)]
    await put(driver, entryOf([alive], [], { pool: 1 }, { members }))
    for (let count = 0; count < 6; count++)
      expect((await sendTo(portOf(driver, SERVICE), [inRecords(clientHello('a.example'))])).toString()).toBe('alive')
  })

  it('are told who connects by the PROXY protocol, before the ClientHello', async () => {
    const driver = lab.driver()
    const hello = inRecords(clientHello('a.example'))
    const member = await started(rawMember('m', hello.length + 28))
    await put(
      driver,
      entryOf([member], [sampleRoute(1, toPools(1), [onHost('a.example')])], {}, { proxyProtocol: 'v2' }),
    )
    expect((await sendTo(portOf(driver, SERVICE), [hello])).toString()).toBe('m')
    const [seen] = member.seen
    expect(seen!.subarray(0, 12).toString('hex')).toBe('0d0a0d0a000d0a515549540a')
    expect([...seen!.subarray(16, 20)].join('.')).toBe(MEMBER_ADDRESS)
    expect(seen!.subarray(28).equals(hello)).toBe(true)
  })

  it('keep the clients of an address, and their connections are counted', async () => {
    const driver = lab.driver()
    const members = await Promise.all(['x', 'y', 'z'].map((name) => started(rawMember(name))))
    const pool = { members: members.map((one) => memberAt(one)), sourceAffinity: true }
    await put(driver, entryOf([members[0]!], [], { pool: 1 }, pool))
    const hello = inRecords(clientHello('a.example'))
    const answers = new Set<string>()
    for (let count = 0; count < 9; count++) answers.add((await sendTo(portOf(driver, SERVICE), [hello])).toString())
    expect(answers.size).toBe(1)
    // The last one is counted when the proxy has closed it.
    await expect
      .poll(() => driver.stats(), { timeout: 10_000 })
      .toMatchObject([{ listenerId: SERVICE, totalConnections: 9, bytesIn: 9 * hello.length, bytesOut: 9 }])
  })
})

/** A ClientHello whose list of extensions says that it is longer than it is. */
function truncated(hello: Buffer): Buffer {
  const changed = Buffer.from(hello)
  // Behind type, length, version, random, session, ciphers and compression.
  changed.writeUInt16BE(0x4000, 4 + 2 + 32 + 33 + 4 + 2)
  return changed
}

async function seenOn(session: http2.ClientHttp2Session): Promise<SeenByMember> {
  const stream = session.request({ ':path': '/' })
  let text = ''
  for await (const part of stream) text += part
  return JSON.parse(text) as SeenByMember
}

async function seenThrough(port: number, name: string, client: Issued): Promise<SeenByMember> {
  const session = http2.connect(`https://${name}:${port}`, {
    createConnection: () =>
      connectTls({
        ...{ host, port, servername: name, ALPNProtocols: ['h2'], ca: authority.certificate },
        ...{ cert: client.certificate, key: client.key },
      }),
  })
  const seen = await seenOn(session)
  session.close()
  return seen
}
