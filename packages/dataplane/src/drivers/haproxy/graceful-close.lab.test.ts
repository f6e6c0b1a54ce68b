import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitFor } from '@spout/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { dial, httpMember, type LabMember, tcpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleWanted } from '../../testing/haproxy/sample-entry.ts'
import { bothEntry, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'
import { DEFAULT_OPTIONS } from './sections/options.ts'

/** Connections whose proxy process is replaced, with clients that never retry a request. */

const { lab, host, started: member } = await proxyLabOfFile()
let web: LabMember
let echo: LabMember

beforeAll(async () => {
  web = await member(httpMember('a'))
  echo = await member(tcpMember('e'))
})

const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const SINCE = '2026-01-01T00:00:00.000Z'

const entry = () => bothEntry(web, echo)

async function started(): Promise<HaproxyDriver> {
  const driver = lab.driver()
  await put(driver, entry())
  return driver
}
const processes = async (): Promise<number> => (await processesOn(files.config)).length

const answers = (text: string): readonly string[] => text.split('HTTP/1.1 ').slice(1)
type Dialled = Awaited<ReturnType<typeof dial>>

async function answer(connection: Dialled): Promise<string> {
  const before = answers(connection.received()).length
  connection.write(REQUEST)
  return waitFor(
    () => answers(connection.received())[before]?.includes('\r\n\r\n') && answers(connection.received())[before],
    {
      what: 'an answer',
    },
  ) as Promise<string>
}

/** A client with one kept-alive connection at a time. It never repeats a request. */
function impatientClient(port: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const failures: string[] = []
  let asked = 0
  let stopping = false
  const once = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = http.get({ host, port, agent, timeout: 30_000 }, (response) => {
        response.resume()
        response.on('error', reject)
        response.on('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
        )
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')))
      outgoing.on('error', reject)
    })
  const loop = (async () => {
    for (; !stopping; asked++) await once().catch((error: unknown) => failures.push(String(error)))
    agent.destroy()
  })()
  const stop = async () => {
    stopping = true
    await loop
    return failures
  }
  return { asked: () => asked, stop }
}

describe('connections that are closed gracefully', () => {
  it('end after their next response, and not before', async () => {
    const driver = await started()
    const port = portOf(driver, 'web-80')
    const idle = await dial(host, port)
    const busy = await dial(host, port)
    for (const connection of [idle, busy]) expect(await answer(connection)).not.toMatch(/connection: close/i)
    // Connections of another domain are not closed.
    await driver.closeGracefully(SINCE, new Set([4711]))
    expect(driver.counters.reloads).toBe(0)
    expect(await driver.busy(new Set([4711]))).toBe(0)
    await driver.closeGracefully(SINCE)
    expect(driver.counters.reloads).toBe(1)
    expect(await driver.busy()).toBe(1)
    expect(await answer(busy)).toMatch(/connection: close/i)
    await waitFor(() => busy.closed(), { what: 'the connection to be closed behind its answer' })
    expect(idle.closed()).toBe(false)
    expect(await processes()).toBe(2)
    expect(await answer(idle)).toMatch(/connection: close/i)
    await waitFor(async () => (await driver.busy()) === 0, { what: 'the replaced process to end' })
    expect(await processes()).toBe(1)
    const fresh = await dial(host, port)
    expect(await answer(fresh)).not.toMatch(/connection: close/i)
    fresh.end()
  })

  it('count until the client has their last response', async () => {
    const driver = await started()
    const port = portOf(driver, 'web-80')
    const slow = await dial(host, port)
    await answer(slow)
    await driver.closeGracefully(SINCE)
    const nft = (text: string) => promisify(execFile)('ip', ['netns', 'exec', lab.place.namespace ?? '', 'nft', text])
    const hook = 'type filter hook output priority 0'
    await nft(['table ip quiet {', 'chain out {', hook, `tcp sport ${port} drop`, '}', '}'].join('\n'))
    slow.write(REQUEST)
    await waitFor(async () => (await processes()) === 1, { what: 'the replaced process to end' })
    expect(await driver.busy()).toBe(1)
    expect(answers(slow.received())).toHaveLength(1)
    await nft('delete table ip quiet')
    await waitFor(() => slow.closed(), { what: 'the connection to be closed' })
    expect(answers(slow.received())[1]).toMatch(/connection: close/i)
    await waitFor(async () => (await driver.busy()) === 0, { what: 'nobody to be left' })
  })

  it('count while the process does not answer the agent, and are closed once it does', async () => {
    const driver = await started()
    const busy = await dial(host, portOf(driver, 'web-80'))
    await answer(busy)
    const [frozen] = await processesOn(files.config)
    process.kill(frozen!.pid, 'SIGSTOP')
    try {
      expect(await driver.busy()).toBe(1)
      await driver.closeGracefully(SINCE)
    } finally {
      process.kill(frozen!.pid, 'SIGCONT')
    }
    expect(driver.counters.reloads).toBe(0)
    const closed = async () => {
      await driver.closeGracefully(SINCE)
      return driver.counters.reloads
    }
    await waitFor(async () => (await closed()) === 1, { what: 'the process to be replaced' })
    expect(await answer(busy)).toMatch(/connection: close/i)
    await waitFor(async () => (await driver.busy()) === 0, { what: 'nobody to be left' })
  })

  it('lose no request of clients that never retry', async () => {
    const driver = await started()
    const clients = Array.from({ length: 8 }, () => impatientClient(portOf(driver, 'web-80')))
    for (let round = 0; round < 5; round++) {
      const before = clients.map(({ asked }) => asked())
      await waitFor(() => clients.every(({ asked }, index) => asked() > before[index]! + 20), { what: 'requests' })
      await driver.closeGracefully(`${SINCE} ${round}`)
    }
    const failures = await Promise.all(clients.map((client) => client.stop()))
    expect(failures.flat()).toEqual([])
    expect(driver.counters.reloads).toBe(5)
  })

  it('are closed once for each drain, whichever agent asks; a proxy without clients is not replaced', async () => {
    const driver = await started()
    await driver.closeGracefully('nobody')
    expect(driver.counters.reloads).toBe(0)
    const held = await dial(host, portOf(driver, 'tcp-7'))
    held.write('hello')
    await waitFor(() => held.received() === 'hello', { what: 'an echo' })
    for (let time = 0; time < 2; time++) await driver.closeGracefully(SINCE)
    expect(driver.counters.reloads).toBe(1)
    await driver.close()
    const next = lab.driver()
    await next.adopt([sampleWanted(entry())])
    await next.closeGracefully(SINCE)
    expect(next.counters).toEqual({ transactions: 0, reloads: 0 })

    held.write(' again')
    await waitFor(() => held.received() === 'hello again', { what: 'an echo' })
    expect(await processes()).toBe(2)
    await next.closeRemaining()
    await waitFor(() => held.closed(), { what: 'the connection to be ended' })
    await waitFor(async () => (await processes()) === 1, { what: 'the replaced process to end' })
    const fresh = await dial(host, portOf(next, 'tcp-7'))
    fresh.write('hello')
    await waitFor(() => fresh.received() === 'hello', { what: 'an echo' })
    fresh.end()
  })
})

describe('a program that was upgraded', () => {
  it('takes over with the next agent, and no request is lost', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'spt-'))
    const executable = join(directory, 'haproxy')
    const install = async () => {
      await copyFile(DEFAULT_OPTIONS.executable, `${executable}.new`)
      await rename(`${executable}.new`, executable)
    }
    const begin = async () => {
      const driver = lab.driver({ options: { executable } })
      await driver.adopt([sampleWanted(entry())])
      return driver
    }
    try {
      await install()
      const first = await begin()
      const clients = Array.from({ length: 4 }, () => impatientClient(portOf(first, 'web-80')))
      const goOn = async () => {
        const before = clients.map(({ asked }) => asked())
        await waitFor(() => clients.every(({ asked }, index) => asked() > before[index]! + 20), { what: 'requests' })
      }
      await goOn()
      await first.close()
      const same = await begin()
      expect(same.counters).toEqual({ transactions: 0, reloads: 0 })
      await same.close()
      await install()
      const upgraded = await begin()
      expect(upgraded.counters.reloads).toBe(1)
      await goOn()
      const failures = await Promise.all(clients.map((client) => client.stop()))
      expect(failures.flat()).toEqual([])
      await waitFor(async () => (await processes()) === 1, { what: 'the process before to end' })
    } finally {
      await lab.clear()
      await rm(directory, { recursive: true, force: true })
    }
  })
})
