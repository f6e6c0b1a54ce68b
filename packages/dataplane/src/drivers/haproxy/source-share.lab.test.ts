import { recordFault, waitFor } from '@spout/testkit'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ask, askForever, crowd, httpMember, type LabMember, tcpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleWanted } from '../../testing/haproxy/sample-entry.ts'
import { bothEntry, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { connectionShare } from './place/connection-share.ts'
import { DEFAULT_OPTIONS, type HaproxyOptions } from './sections/options.ts'

const { lab, host, started } = await proxyLabOfFile()
let members: readonly [web: LabMember, echo: LabMember]
const SLOW = 'GET / HTTP/1.1\r\nHost: slow\r\nX-Slow: '
const crowds: { end(): void }[] = []

beforeAll(async () => {
  members = [await started(httpMember('web')), await started(tcpMember('echo'))]
})
afterEach(() => {
  for (const each of crowds.splice(0)) each.end()
})

/** A proxy with one listener of each kind. */
async function proxy(options: Partial<HaproxyOptions> = {}) {
  const driver = lab.driver({ options })
  await put(driver, bothEntry(...members))
  return { driver, web: portOf(driver, 'web-80'), echo: portOf(driver, 'tcp-7') }
}

const enter = (...[to, first]: Parameters<typeof crowd>) => {
  const one = crowd(to, first)
  crowds.push(one)
  return one
}

describe('connections of a proxy', () => {
  it('are not all taken by 4,000 clients of four addresses that drip their headers', async () => {
    const { driver, web } = await proxy()
    const slow = enter({ host, port: web }, SLOW)
    for (let number = 2; number < 6; number++) {
      slow.enter(await lab.source(number), DEFAULT_OPTIONS.maxConnections / 4)
    }
    // Each is in, or was turned away.
    await waitFor(() => slow.pending() === 0, { what: 'the whole crowd' })
    slow.drip('a')
    let worstMs = 0
    for (let request = 0; request < 50; request++) {
      const startMs = performance.now()
      expect((await ask({ host, port: web })).status).toBe(200)
      worstMs = Math.max(worstMs, performance.now() - startMs)
      slow.drip('a')
    }
    await waitFor(() => slow.closed() > 0, { what: 'some to be turned away' })
    const [stats] = (await driver.stats()).filter(({ listenerId }) => listenerId === 'web-80')
    expect(stats!.activeConnections).toBeLessThanOrEqual((DEFAULT_OPTIONS.maxConnections * 3) / 4)
    recordFault({
      fault: '4,000 clients of four addresses drip headers at a proxy',
      outcome: `${stats!.activeConnections} of them get in; 50 of 50 honest requests are answered`,
      figure: `0 failed, slowest ${worstMs.toFixed(0)} ms`,
    })
  })

  it('end when a header takes longer than its time, however steadily it drips', async () => {
    const { web } = await proxy({ requestWithinMs: 300 })
    const slow = enter({ host, port: web }, SLOW)
    slow.enter(await lab.source(2), 10)
    await waitFor(
      () => {
        slow.drip('a')
        return slow.closed() === 10
      },
      { what: 'the end of all ten' },
    )
  })

  it('are shared by a source that has half of them while they are idle, of all listeners together', async () => {
    const { web, echo } = await proxy({ maxConnections: 40 })
    const source = await lab.source(2)
    const first = enter({ host, port: web }, SLOW)
    first.enter(source, 20)
    await waitFor(() => first.connected() === 20, { what: '20 connected' })
    const second = enter({ host, port: echo }, 'x')
    second.enter(source, 10)
    await waitFor(() => second.closed() === 10, { what: '10 closed' })
    expect(first.closed()).toBe(0)
    expect((await ask({ host, port: web, localAddress: await lab.source(3) })).status).toBe(200)
    first.end()
    await waitFor(async () => (await ask({ host, port: web, localAddress: source })).status === 200, { what: 'room' })
  })

  it('count for all addresses of an IPv6 /64 together, and apart from another one', async () => {
    const { web } = await proxy({ maxConnections: 40 })
    const to = { host: lab.place.address6!, port: web }
    const slow = enter(to, SLOW)
    slow.enter(await lab.source(1, 1), 12)
    slow.enter(await lab.source(2, 1), 12)
    await waitFor(() => slow.closed() === 4, { what: '4 closed' })
    expect((await ask({ ...to, localAddress: await lab.source(1, 2) })).status).toBe(200)
  })

  it('are bound as the next agent was told, without a broken request, and left alone where nothing differs', async () => {
    const before = await proxy({ maxConnections: 40 })
    const entry = [sampleWanted(bothEntry(...members))]
    await before.driver.close()
    const same = lab.driver({ options: { maxConnections: 40 } })
    await same.adopt(entry)
    expect(same.counters.reloads).toBe(0)
    await same.close()
    const asking = askForever({ host, port: before.web })
    await waitFor(() => asking.asked() > 10, { what: 'requests' })
    const other = lab.driver({ options: { maxConnections: 20 } })
    await other.adopt(entry)
    expect(other.counters.reloads).toBe(1)
    expect((await asking.stop()).failures).toEqual([])
    const slow = enter({ host, port: before.web }, SLOW)
    slow.enter(await lab.source(2), 11)
    await waitFor(() => slow.closed() === 1, { what: 'the eleventh to be turned away' })
  })

  it('are reported as a share: their number, that the proxy is full, and those that the queue dropped', async () => {
    const { driver, web } = await proxy({ maxConnections: 40, sourceShare: 1 })
    const use = async () =>
      (
        await connectionShare({
          places: () => [lab.place],
          connections: (...of) => driver.connections(...of),
        }).read(7)
      )[0]!
    const before = (await use()).refused!
    expect(await use()).toMatchObject({ share: 'connections', limit: 40, used: 0, isOver: false })
    const slow = enter({ host, port: web }, SLOW)
    const source = await lab.source(2)
    slow.enter(source, 39)
    await waitFor(async () => (await use()).used === 39, { what: '39 in' })
    expect(await use()).toMatchObject({ refused: before, isOver: false })
    slow.enter(source, 1)
    await waitFor(async () => (await use()).isOver, { what: 'the last place to be taken' })
    expect((await use()).refused).toBe(before)
    // More connections than its limit and the kernel's queue together.
    const more = enter({ host, port: web }, SLOW)
    more.enter(source, 200)
    await waitFor(async () => (await use()).refused! > before, { what: 'connections that find no place' })
    more.end()
    slow.end()
    await waitFor(async () => (await use()).used === 0, { what: 'all to go' })
    expect(await use()).toMatchObject({ isOver: false })
  })

  it('of a domain without a proxy are not reported', async () => {
    const { driver } = await proxy()
    expect(
      await connectionShare({
        places: () => [lab.place],
        connections: (...of) => driver.connections(...of),
      }).read(8),
    ).toEqual([])
  })

  it('may all belong to one source if so configured', async () => {
    const { web } = await proxy({ maxConnections: 40, sourceShare: 1 })
    const slow = enter({ host, port: web }, SLOW)
    slow.enter(await lab.source(2), 39)
    await waitFor(() => slow.connected() === 39, { what: '39 connected' })
    expect((await ask({ host, port: web })).status).toBe(200)
    expect(slow.closed()).toBe(0)
  })
})
