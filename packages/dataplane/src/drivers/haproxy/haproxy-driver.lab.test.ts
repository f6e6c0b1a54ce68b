import { existsSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import type { LoadBalancerEntry, RouteCondition } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  askForever,
  dial,
  httpMember,
  type LabMember,
  MEMBER_ADDRESS,
  tcpMember,
} from '../../testing/haproxy/proxy-lab.ts'
import {
  sampleDomain,
  sampleEntry,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import {
  memberAt as at,
  portOf,
  proxyLabOfFile,
  put,
  tcpEntry,
  webEntry,
} from '../../testing/haproxy/services-in-lab.ts'
import { StatsSocket } from './commands/stats-socket.ts'
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'

const { lab, host, started } = await proxyLabOfFile()
const web: LabMember[] = []

beforeAll(async () => {
  for (const name of ['a', 'b', 'c']) web.push(await started(httpMember(name)))
})

/** From RFC 6455 section 1.3. */
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13'
const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)

const pidOf = async (): Promise<number> => (await processesOn(files.config))[0]!.pid

/** Within this many requests a round robin reaches every member, whatever has just changed. */
const ROUND = 60

/** Names of the members that answer. */
async function answering(port: number): Promise<readonly string[]> {
  const names = new Set<string>()
  for (let count = 0; count < ROUND; count++) names.add((await ask({ host, port })).member ?? 'nobody')
  return [...names].sort()
}

/**
 * Makes requests until each of these members has answered, then another round. @returns all that answered. With least
 * connections a member of little weight gets a request only while the others are busy, so no fixed number is enough.
 */
async function answeringWith(port: number, expected: readonly string[]): Promise<readonly string[]> {
  const seen = new Set<string>()
  await waitFor(
    async () => {
      for (const name of await answering(port)) seen.add(name)
      return expected.every((name) => seen.has(name))
    },
    { what: `answers of ${expected.join(', ')}`, everyMs: 1 },
  )
  return [...seen].sort()
}

describe('http', () => {
  it.each([0.5, 1])(
    'is balanced by source and port, also where one source may have %s of the places',
    async (sourceShare) => {
      const driver = lab.driver({ options: { sourceShare } })
      await put(
        driver,
        webEntry(
          web.map((one) => at(one)),
          { algorithm: 'source-ip-port' },
        ),
      )
      expect(await answering(portOf(driver, 'web-80'))).toEqual(['a', 'b', 'c'])
      await put(
        driver,
        webEntry(
          web.map((one) => at(one)),
          { algorithm: 'source-ip' },
        ),
      )
      expect(await answering(portOf(driver, 'web-80'))).toHaveLength(1)
    },
  )

  it('is balanced over both families, and answers 503 without a pool', async () => {
    const driver = lab.driver()
    await put(driver, webEntry(web.map((member) => at(member))))
    const port = portOf(driver, 'web-80')
    expect(await answering(port)).toEqual(['a', 'b', 'c'])
    expect((await ask({ host: lab.place.address6!, port })).status).toBe(200)
    await put(driver, webEntry([], {}, { pool: null }))
    expect((await ask({ host, port })).status).toBe(503)
    expect(driver.counters.reloads).toBe(0)
  })

  it('replaces the forwarding headers that a client made up, and what could hide them', async () => {
    const driver = lab.driver()
    await put(
      driver,
      webEntry(
        [at(web[0]!)],
        {},
        {
          port: 8443,
          insertHeaders: ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto'],
        },
      ),
    )
    await lab.lead(8443, portOf(driver, 'web-80'))
    const { seen } = await ask({
      host,
      port: 8443,
      headers: {
        'X-Forwarded-For': ['10.6.6.6', '10.7.7.7'],
        'X-Forwarded-Port': '1',
        'X-Forwarded-Proto': 'https',
        X_Forwarded_For: '10.8.8.8',
        Connection: 'close, X-Forwarded-For',
      },
    })
    expect(seen).toMatchObject({
      'x-forwarded-for': MEMBER_ADDRESS,
      'x-forwarded-port': '8443',
      'x-forwarded-proto': 'http',
    })
    expect(seen.x_forwarded_for).toBeUndefined()
    expect(seen.connection ?? '').not.toMatch(/forwarded/i)
    expect(driver.counters.reloads).toBe(0)
  })

  it.each([
    [[], {}],
    [['x-forwarded-proto'], { 'x-forwarded-proto': 'http' }],
    [['x-forwarded-proto', 'x-forwarded-for'], { 'x-forwarded-for': MEMBER_ADDRESS, 'x-forwarded-proto': 'http' }],
  ] as const)('gives just the forwarding headers %j', async (insertHeaders, expected) => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)], {}, { insertHeaders }))
    const { seen } = await ask({ host, port: portOf(driver, 'web-80') })
    expect(Object.fromEntries(Object.entries(seen).filter(([name]) => name.startsWith('x-')))).toEqual(expected)
    expect(driver.counters.reloads).toBe(0)
  })

  it('gives X-Real-IP in place of the client’s own, for which there is no slot in advance', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)], {}, { insertHeaders: ['x-real-ip'] }))
    const headers = { 'x-real-ip': '1.2.3.4', x_real_ip: '1.2.3.4' }
    const { seen } = await ask({ host, port: portOf(driver, 'web-80'), headers })
    expect(seen).toMatchObject({ 'x-real-ip': MEMBER_ADDRESS })
    expect(seen).not.toHaveProperty('x_real_ip')
  })

  it('changes its headers by a reload, on the same port', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)]))
    const port = portOf(driver, 'web-80')
    await put(driver, webEntry([at(web[0]!)], {}, { insertHeaders: ['x-forwarded-for'] }))
    expect((await ask({ host, port })).seen).toMatchObject({ 'x-forwarded-for': MEMBER_ADDRESS })
    await put(driver, webEntry([at(web[0]!)]))
    expect((await ask({ host, port })).seen).not.toHaveProperty('x-forwarded-for')
    expect(driver.counters.reloads).toBe(2)
  })

  it('leaves headers alone that are not asked for', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)]))
    const { seen } = await ask({ host, port: portOf(driver, 'web-80'), headers: { 'X-Forwarded-For': '10.6.6.6' } })
    expect(seen['x-forwarded-for']).toBe('10.6.6.6')
    expect(seen['x-forwarded-port']).toBeUndefined()
  })

  it('lets a connection be upgraded', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)]))
    const connection = await dial(host, portOf(driver, 'web-80'))
    connection.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${KEY}\r\n\r\n`)
    await waitFor(() => connection.received().includes('101 Switching'), { what: 'the upgrade' })
    connection.write('hello')
    await waitFor(() => connection.received().endsWith('hello'), { what: 'the echo' })
    connection.end()
  })
})

describe('tcp-proxy', () => {
  it("carries connections, passes the client's address, and closes without a member", async () => {
    const echo = await started(tcpMember('echo'))
    const driver = lab.driver()
    const service = (id: string, pool: number | null) => sampleService(id, { protocol: 'tcp-proxy', port: 7, pool })
    const pool = samplePool(1, { mode: 'tcp-proxy', members: [at(echo)], algorithm: 'source-ip-port' })
    await put(
      driver,
      sampleEntry(
        'tcp',
        [service('plain', 1), service('proxied', 2), service('nothing', null)],
        [pool, { ...pool, number: 2, proxyProtocol: 'v1', algorithm: 'source-ip' }],
      ),
    )
    const plain = await dial(host, portOf(driver, 'plain'))
    plain.write('ping')
    await waitFor(() => plain.received() === 'ping', { what: 'the echo' })
    const proxied = await dial(host, portOf(driver, 'proxied'))
    proxied.write('ping')
    await waitFor(() => proxied.received().endsWith('ping'), { what: 'the echo' })
    expect(proxied.received()).toMatch(`PROXY TCP4 ${MEMBER_ADDRESS} ${host} `)
    const nothing = await dial(host, portOf(driver, 'nothing'))
    await waitFor(() => nothing.closed(), { what: 'the close' })
    plain.end()
    proxied.end()
  })

  it('ends connections to a removed member at once if its pool gives them no time', async () => {
    const echo = await started(tcpMember('echo'))
    const driver = lab.driver()
    const entry = (members: Parameters<typeof tcpEntry>[0]): LoadBalancerEntry => {
      const { pools, services, ...own } = tcpEntry(members)
      // Nothing but the drain ends it in time.
      const timeouts = { clientMs: 600_000, connectMs: 5_000, memberMs: 600_000 }
      return {
        ...own,
        services: services.map((service) => ({ ...service, timeouts })),
        pools: pools.map((pool) => ({ ...pool, drainMs: 0 })),
      }
    }
    await put(driver, entry([at(echo)]))
    const old = await dial(host, portOf(driver, 'tcp-7'))
    old.write('one')
    await waitFor(() => old.received() === 'one', { what: 'the echo' })
    await put(driver, entry([]))
    await waitFor(() => old.closed(), { what: 'the connection to be closed' })
    expect(driver.counters.reloads).toBe(0)
  })

  it('lets connections to a removed member end by themselves, for a while', async () => {
    const echo = await started(tcpMember('echo'))
    const driver = lab.driver({ options: { drainMs: 300 } })
    await put(driver, tcpEntry([at(echo)]))
    const old = await dial(host, portOf(driver, 'tcp-7'))
    old.write('one')
    await waitFor(() => old.received() === 'one', { what: 'the echo' })
    await put(driver, tcpEntry([]))
    old.write('two')
    await waitFor(() => old.received() === 'onetwo', { what: 'the echo after the removal' })
    const refused = await dial(host, portOf(driver, 'tcp-7'))
    await waitFor(() => refused.closed(), { what: 'the new connection to be closed' })
    await waitFor(() => old.closed(), { what: 'the end of the drain' })
    await waitFor(async () => !/ m[0-9a-f]{16} /.test(await show('show servers state')), { what: 'the deletion' })
    expect(driver.counters.reloads).toBe(0)
  })
})

/** The running process's reply to a command. */
async function show(command: string): Promise<string> {
  const { generation } = JSON.parse(await readFile(files.state, 'utf8'))
  const socket = await StatsSocket.connect(files.statsSocket(generation), () => {})
  const [reply = ''] = await socket.execute([`${command}\n`])
  socket.close()
  return reply
}

describe('a connection to a member', () => {
  it('is kept for the next request, also where the member came at run time, and does not keep a removed member', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([]))
    const member = await started(httpMember('later'))
    await put(driver, webEntry([at(member)]))
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const port = portOf(driver, 'web-80')
    for (let count = 0; count < 10; count++) await ask({ host, port, agent })
    expect(member.count()).toBe(10)
    expect(member.connections()).toBe(1)
    await put(driver, webEntry([]))
    const deleted = async () => !/ m[0-9a-f]{16} /.test(await show('show servers state'))
    await waitFor(deleted, { what: 'the deletion of the member' })
    agent.destroy()
    expect(driver.counters.reloads).toBe(0)
  })
})

describe('a busy service', () => {
  it('fails no request while members come, go, go down and change weight, without a reload', async () => {
    const driver = lab.driver()
    const [a, b, c] = web as [LabMember, LabMember, LabMember]
    await put(driver, webEntry([at(a)]))
    const port = portOf(driver, 'web-80')
    const clients = [1, 2, 3, 4].map(() => askForever({ host, port }))
    const someAsked = async () => {
      const before = clients.map((client) => client.asked())
      await waitFor(() => clients.every((client, index) => client.asked() > before[index]! + 5), { what: 'requests' })
    }
    const steps: readonly (readonly [LoadBalancerEntry, readonly string[], readonly string[]])[] = [
      [webEntry([at(a), at(b), at(c)]), [], ['a', 'b', 'c']],
      [webEntry([null, at(b), at(c)]), [], ['b', 'c']],
      [webEntry([at(a), at(b), at(c)]), ['b'], ['a', 'c']],
      [webEntry([at(a, { weight: 0 }), at(b), at(c)]), ['b'], ['c']],
      [webEntry([at(a, { weight: 5 }), at(b), at(c)], { algorithm: 'least-connections' }), ['c'], ['a', 'b']],
      [webEntry([at(a), at(b, { backup: true })]), [], ['a']],
      [webEntry([at(a), at(b, { backup: true })]), ['a'], ['b']],
      [webEntry([at(a), at(c)]), [], ['a', 'c']],
    ]
    for (let round = 0; round < 3; round++) {
      for (const [entry, down, expected] of steps) {
        await put(driver, entry, down)
        await someAsked()
        expect(await answeringWith(port, expected)).toEqual(expected)
      }
    }
    for (const client of clients) expect((await client.stop()).failures).toEqual([])
    expect(driver.counters.reloads).toBe(0)
  })

  it('fails no request while slots grow by a reload', async () => {
    const driver = lab.driver()
    await put(driver, webEntry(web.map((member) => at(member))))
    const client = askForever({ host, port: portOf(driver, 'web-80') })
    for (let index = 0; index < 24; index++) {
      const entry = sampleEntry(
        `lb${index}`,
        [sampleService(`s${index}`, { pool: 100 + index })],
        [samplePool(100 + index, { members: [at(web[index % 3]!)] })],
      )
      await put(driver, entry)
      expect((await ask({ host, port: portOf(driver, `s${index}`) })).member).toBe(web[index % 3]!.name)
    }
    await put(driver, webEntry([at(web[0]!)], {}, { timeouts: { clientMs: 9_000, connectMs: 1_000, memberMs: 9_000 } }))
    const before = client.asked()
    await waitFor(() => client.asked() > before + 20, { what: 'requests' })
    expect((await client.stop()).failures).toEqual([])
    expect(driver.counters.reloads).toBeGreaterThan(0)
    expect(driver.counters.reloads).toBeLessThan(5)
    expect(await answering(portOf(driver, 'web-80'))).toEqual(['a'])
  })
})

describe('counters', () => {
  it('begin at zero, even if a client used the port before it had an owner', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)]))
    const port = portOf(driver, 'web-80')! + 1
    for (let turn = 0; turn < 3; turn++) expect((await ask({ host, port })).status).toBe(503)
    const next = [sampleService('next-80')]
    await put(driver, sampleEntry('next', next, [samplePool(2, { number: 1, members: [at(web[1]!)] })]))
    expect(portOf(driver, 'next-80')).toBe(port)
    const counted = async () => (await driver.stats()).find(({ listenerId }) => listenerId === 'next-80')
    expect(await counted()).toMatchObject({ totalConnections: 0, bytesIn: 0, bytesOut: 0, requestErrors: 0 })
    expect((await ask({ host, port })).member).toBe(web[1]!.name)
    expect(await counted()).toMatchObject({ totalConnections: 1 })
  })
})

describe('a killed process', () => {
  it('is back with the state of its members, and counters do not fall', async () => {
    const driver = lab.driver()
    await put(driver, webEntry(web.map((member) => at(member))), ['b'])
    const port = portOf(driver, 'web-80')
    await answering(port)
    const [before] = await driver.stats()
    expect(before).toMatchObject({ loadBalancerId: 'web', listenerId: 'web-80', totalConnections: ROUND })
    expect(before!.bytesOut).toBeGreaterThan(0)
    const killed = await pidOf()
    process.kill(killed, 'SIGKILL')
    await waitFor(async () => (await pidOf()) !== killed && (await ask({ host, port })).status === 200, {
      what: 'the proxy to be back',
    })
    expect(await answering(port)).toEqual(['a', 'c'])
    const [after] = await driver.stats()
    expect(after!.totalConnections).toBeGreaterThan(before!.totalConnections)
    expect(await driver.observe()).toEqual([])
    expect(driver.counters.reloads).toBe(0)
  })
})

describe('the next agent', () => {
  it('adopts a process without touching it', async () => {
    const first = lab.driver()
    const entry = webEntry(web.map((member) => at(member)))
    await put(first, entry, ['c'])
    const port = portOf(first, 'web-80')
    await first.close()
    const pid = await pidOf()
    expect((await ask({ host, port })).status).toBe(200)

    const second = lab.driver()
    await second.adopt([sampleWanted(entry, ['c'])])
    expect(second.counters).toEqual({ transactions: 0, reloads: 0 })
    await put(second, entry, ['c'])
    expect(second.counters).toEqual({ transactions: 0, reloads: 0 })
    expect(portOf(second, 'web-80')).toBe(port)
    expect(await pidOf()).toBe(pid)
    await put(second, entry)
    expect(await answering(port)).toEqual(['a', 'b', 'c'])
  })

  it('removes unwanted content with its first apply', async () => {
    const first = lab.driver()
    const other = sampleEntry(
      'other',
      [sampleService('other-80')],
      [samplePool(2, { number: 1, members: [at(web[1]!)] })],
    )
    await put(first, webEntry([at(web[0]!)]))
    await put(first, other)
    const gone = portOf(first, 'other-80')
    await first.close()
    const second = lab.driver()
    await second.adopt([sampleWanted(webEntry([at(web[0]!)]))])
    expect((await ask({ host, port: gone })).status).toBe(200)
    await put(second, webEntry([at(web[0]!)]))
    expect((await ask({ host, port: gone })).status).toBe(503)
    expect(await answering(portOf(second, 'web-80'))).toEqual(['a'])
  })

  it('starts a process that died meanwhile, on the same ports', async () => {
    const first = lab.driver()
    await put(first, webEntry([at(web[0]!)]))
    const port = portOf(first, 'web-80')
    await first.close()
    const pid = await pidOf()
    process.kill(pid, 'SIGKILL')
    await waitFor(async () => (await processesOn(files.config)).length === 0, { what: 'the death' })
    const second = lab.driver()
    await second.adopt([sampleWanted(webEntry([at(web[0]!)]))])
    expect(portOf(second, 'web-80')).toBe(port)
    expect((await ask({ host, port })).status).toBe(200)
  })
})

describe('an agent that is killed while it replaces a process', () => {
  it('leaves no process running beside that of the next agent', async () => {
    const first = lab.driver()
    await put(first, webEntry([at(web[0]!)]))
    const recorded = await readFile(files.state)
    const replaced = await pidOf()
    await put(first, webEntry([at(web[0]!)], {}, { timeouts: { clientMs: 9_000, connectMs: 1_000, memberMs: 9_000 } }))
    await first.close()
    await waitFor(async () => (await processesOn(files.config)).length === 1, { what: 'the replaced one to end' })
    const unrecorded = await pidOf()
    expect(unrecorded).not.toBe(replaced)
    // The file as the kill left it.
    await writeFile(files.state, recorded)
    const second = lab.driver()
    await second.adopt([sampleWanted(webEntry([at(web[1]!)]))])
    const running = (await processesOn(files.config)).map(({ pid }) => pid)
    expect(running).toHaveLength(1)
    expect(running).not.toContain(unrecorded)
    expect(await answering(portOf(second, 'web-80'))).toEqual(['b'])
  })
})

describe('what goes wrong', () => {
  it('is detected and repaired when somebody else changed the process', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)]))
    await show(`del map ${files.map('backend')} f0`)
    expect((await ask({ host, port: portOf(driver, 'web-80') })).status).toBe(503)
    expect(await driver.observe()).toEqual(['lb/web'])
    await put(driver, webEntry([at(web[0]!)]))
    expect((await ask({ host, port: portOf(driver, 'web-80') })).status).toBe(200)
    expect(await driver.observe()).toEqual([])
  })

  it('is found in steps, between which other changes are made', async () => {
    const driver = lab.driver()
    const rest = { type: 'respond', code: 404 } as const
    const routed = (path: string) => {
      const condition: RouteCondition = { on: 'path', compare: 'exact', values: [path], not: false }
      return webEntry([at(web[0]!)], {}, { routes: [sampleRoute(1, rest, [condition])] })
    }
    const statusOf = async (path: string) => (await ask({ host, port: portOf(driver, 'web-80'), path })).status
    await put(driver, routed('/gone'))
    expect(await statusOf('/gone')).toBe(404)
    const step = () => driver.observe(AbortSignal.abort())
    await step()
    expect(driver.observing).toBe(true)
    await show(`clear map ${files.map('paths')}`)
    expect(await statusOf('/gone')).toBe(200)
    await put(driver, tcpEntry([]))
    let steps = 1
    let lost: readonly string[] = []
    for (; driver.observing; steps++) lost = await step()
    expect(lost).toEqual(['lb/web'])
    expect(steps).toBeGreaterThan(10)
    expect(driver.proxyPort('tcp-7')).not.toBeNull()
    await put(driver, routed('/gone'))
    expect(await statusOf('/gone')).toBe(404)
    expect(await driver.observe()).toEqual([])
    expect(driver.observing).toBe(false)
    // It was found right, and is looked at again all the same.
    await show(`clear map ${files.map('paths')}`)
    expect(await driver.observe()).toEqual(['lb/web'])
  })

  it('is not found where a change was made while it was looked for', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(web[0]!)]))
    for (let turn = 0; turn < 2 || driver.observing; turn++) {
      expect(await driver.observe(AbortSignal.abort())).toEqual([])
      await put(driver, webEntry([at(web[turn % 3]!), at(web[(turn + 1) % 3]!)]), turn % 2 === 0 ? ['a'] : [])
    }
    expect(await driver.observe()).toEqual([])
  })

  it('fails the entry that the proxy refuses, with its error text, and no other', async () => {
    const driver = lab.driver()
    const good = webEntry([at(web[0]!)])
    await put(driver, good)
    const bad = webEntry([at(web[0]!), at(web[1]!)])
    const malformed = sampleEntry(
      'malformed',
      [sampleService('malformed-80')],
      [samplePool(1, { members: [at(web[1]!, { address: '10.0.0.1:80 check port 9\n' })] })],
    )
    // Somebody has taken the number that the new server would have.
    const id = driver.render(sampleWanted(bad)).backends[0]!.servers[1]!.id
    expect(await show(`add server b0/taken 10.0.0.1:80 id ${id}`)).toBe('New server registered.')
    const other = sampleEntry(
      'other',
      [sampleService('other-80', { pool: 2 })],
      [samplePool(2, { members: [at(web[2]!)] })],
    )
    const applied = await driver.apply({
      put: [sampleWanted(bad), sampleWanted(malformed), sampleWanted(other)],
      remove: [],
    })
    expect(applied).toEqual([
      { key: 'lb/web', state: 'failed', reason: 'ProxyRefused', message: expect.stringContaining('already used') },
      { key: 'lb/other', state: 'programmed', reason: null, message: null },
      { key: 'lb/malformed', state: 'failed', reason: 'EntryRefused', message: expect.stringContaining('address') },
    ])
    expect(await answering(portOf(driver, 'web-80'))).toEqual(['a'])
    expect(await answering(portOf(driver, 'other-80'))).toEqual(['c'])
  })

  it('is reported when the proxy cannot start', async () => {
    const driver = lab.driver({ options: { executable: '/bin/false' } })
    const [applied] = await driver.apply({ put: [sampleWanted(webEntry([at(web[0]!)]))], remove: [] })
    expect(applied).toMatchObject({ key: 'lb/web', state: 'failed', reason: 'ProxyUnavailable' })
  })
})

describe('a domain', () => {
  it('has its process in advance, as its own user in its own namespace, and leaves nothing behind', async () => {
    const driver = lab.driver({ options: { firstUid: 70_000 } })
    await driver.startDomain(sampleDomain())
    const pid = await pidOf()
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\t70007\t70007\t70007\t70007$/m)
    expect(status).toMatch(/^Gid:\t70007\t70007\t70007\t70007$/m)
    expect(readlinkSync(`/proc/${pid}/root`)).toBe(files.root)
    expect(statSync(`/proc/${pid}/ns/net`).ino).toBe(statSync(`/run/netns/${lab.place.namespace}`).ino)
    expect(readFileSync(`/proc/${pid}/cgroup`, 'utf8')).toContain(`memory:/${lab.cgroup}/${lab.place.name}`)
    const before = driver.counters
    await put(driver, webEntry([at(web[0]!)]))
    expect(driver.counters.reloads).toBe(0)
    expect(driver.counters.transactions).toBeGreaterThan(before.transactions)
    await driver.stopDomain(7)
    expect(driver.proxyPort('web-80')).toBeNull()
    expect(await processesOn(files.config)).toEqual([])
    expect(existsSync(files.directory)).toBe(false)
  })

  it('ends its process some time after its last service', async () => {
    const driver = lab.driver({ options: { graceMs: 50 } })
    await put(driver, webEntry([at(web[0]!)]))
    await driver.apply({ put: [], remove: ['lb/web'] })
    await waitFor(() => !existsSync(files.directory), { what: 'the end' })
    await put(driver, webEntry([at(web[0]!)]))
    expect((await ask({ host, port: portOf(driver, 'web-80') })).status).toBe(200)
  })
})
