import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NodeMember, NodePool } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { describe, expect, it } from 'vitest'
import { ask, dial, httpMember, MEMBER_ADDRESS, tcpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleWanted } from '../../testing/haproxy/sample-entry.ts'
import {
  memberAt as at,
  portOf,
  proxyLabOfFile,
  put,
  tcpEntry as tcp,
  webEntry as web,
} from '../../testing/haproxy/services-in-lab.ts'

const { lab, host, started } = await proxyLabOfFile()

/** Of so many requests, how many each member answered, and how many each status without a member. */
async function share(port: number, requests: number): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (let n = 0; n < requests; n++) {
    const { member, status } = await ask({ host, port })
    const by = member ?? `nobody: ${status}`
    counts[by] = (counts[by] ?? 0) + 1
  }
  return counts
}

/**
 * Whether nobody listens on the port. A child that another test forks just now keeps a closed socket open until it
 * executes its program. Until then connections are accepted, and then reset.
 */
async function refuses(port: number): Promise<boolean> {
  const connection = await dial(MEMBER_ADDRESS, port)
  const refused = connection.closed()
  connection.end()
  return refused
}

describe('slow start', () => {
  it('raises a member that comes back or joins, over the restart of the agent', async () => {
    const [a, b, c] = [await started(httpMember('a')), await started(httpMember('b')), await started(httpMember('c'))]
    // On a busy machine forty requests take a second, and meanwhile the share grows.
    const slow = { slowStartMs: 8_000 }
    const driver = lab.driver()
    await put(driver, web([at(a)], slow))
    const port = portOf(driver, 'web-80')
    await put(driver, web([at(a), at(b)], slow))
    expect((await share(port, 40)).b ?? 0).toBeLessThan(8)
    await driver.close()
    // The process continues without an agent, and the next agent does not change it.
    const next = lab.driver()
    await next.adopt([sampleWanted(web([at(a), at(b)], slow))])
    await waitFor(async () => (await share(port, 40)).b === 20, { what: 'the whole share' })
    expect(next.counters).toEqual({ transactions: 0, reloads: 0 })
    await put(next, web([at(a), at(b)], slow), ['b'])
    await put(next, web([at(a), at(b)], slow))
    expect((await share(port, 40)).b ?? 0).toBeLessThan(8)
    // Without a slow start a member has its share at once.
    await put(next, web([at(a), at(c)]))
    expect(await share(port, 40)).toEqual({ a: 20, c: 20 })
    expect(next.counters.reloads).toBe(0)
  })
})

describe('connections', () => {
  it('of a member with weight 0 end at the deadline; those of another stay', async () => {
    const [a, b] = [await started(tcpMember('a')), await started(tcpMember('b'))]
    const driver = lab.driver()
    const entry = (weight: number, drainMs: number) => tcp([at(a, { weight }), at(b)], { drainMs })
    await put(driver, entry(1, 3_600_000))
    const both = [await dial(host, portOf(driver, 'tcp-7')), await dial(host, portOf(driver, 'tcp-7'))]
    for (const each of both) each.write('one')
    await waitFor(() => both.every((each) => each.received() === 'one'), { what: 'the echoes' })
    expect([a.count(), b.count()]).toEqual([1, 1])
    await put(driver, entry(0, 3_600_000))
    for (const each of both) each.write('two')
    await waitFor(() => both.every((each) => each.received() === 'onetwo'), { what: 'the echoes while it drains' })
    await put(driver, entry(1, 200))
    await put(driver, entry(0, 200))
    await waitFor(() => both.some((each) => each.closed()), { what: 'the end of the drain' })
    const left = both.find((each) => !each.closed())!
    left.write('three')
    await waitFor(() => left.received() === 'onetwothree', { what: 'the echo of the other member' })
    left.end()
    expect(b.count()).toBe(1)
  })

  it('of a member that goes down stay, and are ended where the pool says so', async () => {
    const [a, b] = [await started(tcpMember('a')), await started(tcpMember('b'))]
    const driver = lab.driver()
    for (const resetOnDown of [false, true]) {
      const entry = tcp([at(a), at(b, { backup: true })], { resetOnDown })
      await put(driver, entry)
      const connection = await dial(host, portOf(driver, 'tcp-7'))
      connection.write('one')
      await waitFor(() => connection.received() === 'one', { what: 'the echo' })
      await put(driver, entry, ['a'])
      if (resetOnDown) await waitFor(() => connection.closed(), { what: 'the end' })
      else {
        connection.write('two')
        await waitFor(() => connection.received() === 'onetwo', { what: 'the echo' })
      }
      connection.end()
      // A backup that rests again is not down.
      const onBackup = await dial(host, portOf(driver, 'tcp-7'))
      onBackup.write('one')
      await waitFor(() => onBackup.received() === 'one', { what: 'the echo of the backup' })
      await put(driver, entry)
      onBackup.write('two')
      await waitFor(() => onBackup.received() === 'onetwo', { what: 'the echo of the backup at rest' })
      onBackup.end()
    }
  })
})

it.each(['round-robin', 'least-connections', 'source-ip'] as const)(
  'a dead member costs no request, whoever it belongs to by %s',
  async (algorithm) => {
    const [a, b, c] = [await started(httpMember('a')), await started(httpMember('b')), await started(httpMember('c'))]
    const driver = lab.driver()
    await put(driver, web([at(a), at(b), at(c)], { algorithm }))
    const port = portOf(driver, 'web-80')
    const dying = (await ask({ host, port })).member!
    const member = [a, b, c].find(({ name }) => name === dying)!
    member.close()
    await waitFor(() => refuses(member.port), { what: 'the end of the member' })
    const others = ['a', 'b', 'c'].filter((name) => name !== dying)
    expect(Object.keys(await share(port, 12)).filter((name) => !others.includes(name))).toEqual([])
  },
)

describe('traffic', () => {
  const passive = { on: 'response', failures: 3, holdMs: 1_000, maxDownPercent: 50 } as const

  it('is counted for watched pools only', async () => {
    let how: 'good' | 'bad' | 'cut' | 'late' = 'good'
    const server = http.createServer((_, response) => {
      if (how === 'cut') response.destroy()
      else if (how !== 'late') response.writeHead(how === 'good' ? 200 : 503).end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
    const member = { name: 'x', port: (server.address() as AddressInfo).port, close: () => void server.close() }
    await started(Promise.resolve(member))
    await started(Promise.resolve({ close: () => server.closeAllConnections() }))
    const driver = lab.driver()
    const timeouts = { clientMs: 5_000, connectMs: 1_000, memberMs: 300 }
    const entry = (used: readonly NodeMember[], change: Partial<NodePool> = {}) => web(used, change, { timeouts })
    await put(driver, entry([at(member)]))
    expect(await driver.traffic()).toEqual([])
    await put(driver, entry([at(member)], { passive }))
    const port = portOf(driver, 'web-80')
    const told = async () => {
      const [traffic] = await driver.traffic()
      expect(traffic).toMatchObject({ key: 'lb/web', poolId: 'pool-1', memberId: 'x' })
      return traffic!
    }
    const before = await told()
    for (const [way, status] of [
      ['good', 200],
      ['bad', 503],
      ['cut', 502],
      ['late', 504],
    ] as const) {
      how = way
      const was = await told()
      expect((await ask({ host, port })).status).toBe(status)
      const is = await told()
      expect(is.answered - was.answered).toBe(way === 'good' ? 1 : 0)
      expect(is.badAnswers - was.badAnswers).toBeGreaterThanOrEqual(way === 'good' ? 0 : 1)
      expect(is.notConnected).toBe(before.notConnected)
    }
    const dead = { name: 'dead', port: 1, close: () => {} }
    const good = await started(httpMember('good'))
    await put(driver, entry([at(dead), at(good)], { passive }))
    for (let n = 0; n < 10; n++) expect((await ask({ host, port })).status).toBe(200)
    const traffic = new Map((await driver.traffic()).map((each) => [each.memberId, each]))
    expect(traffic.get('dead')).toMatchObject({ connected: 0, answered: 0 })
    expect(traffic.get('dead')?.notConnected).toBeGreaterThanOrEqual(5)
    expect(traffic.get('good')).toMatchObject({ connected: 10, notConnected: 0, answered: 10, badAnswers: 0 })
  })

  it('of TCP tells of connections', async () => {
    const echo = await started(tcpMember('echo'))
    const driver = lab.driver()
    const dead = { name: 'dead', port: 1 }
    await put(driver, tcp([at(echo), at(dead)], { passive: { ...passive, on: 'connection' } }))
    for (let n = 0; n < 6; n++) {
      const connection = await dial(host, portOf(driver, 'tcp-7'))
      connection.write('x')
      await waitFor(() => connection.received() === 'x', { what: 'the echo' })
      connection.end()
    }
    const traffic = new Map((await driver.traffic()).map((each) => [each.memberId, each]))
    expect(traffic.get('echo')).toMatchObject({ connected: 6, notConnected: 0 })
    expect(traffic.get('dead')?.connected).toBe(0)
    expect(traffic.get('dead')?.notConnected).toBeGreaterThanOrEqual(3)
  })
})
