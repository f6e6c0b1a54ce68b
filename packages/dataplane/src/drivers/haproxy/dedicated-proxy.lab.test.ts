import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DedicatedProxy, LoadBalancerEntry } from '@spout/model'
import { recordFault, waitFor } from '@spout/testkit'
import { expect, it } from 'vitest'
import { ask, askForever, crowd, dial, httpMember, type LabMember, tcpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleService, sampleWanted } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'
import { memoryShare } from './place/memory-share.ts'

const { lab, host, started } = await proxyLabOfFile()
const DOMAIN = 7

/** A load balancer of the network with one HTTP listener, `<name>-80`. */
function balanced(name: string, member: LabMember, dedicatedProxy?: DedicatedProxy): LoadBalancerEntry {
  const number = name.charCodeAt(0)
  const services = [sampleService(`${name}-80`, { pool: number })]
  const entry = sampleEntry(name, services, [samplePool(number, { members: [memberAt(member)] })])
  return { ...entry, ...(dedicatedProxy === undefined ? {} : { dedicatedProxy }) }
}

const placeOf = (driver: HaproxyDriver, name?: string) => {
  const found = driver.placesOf(DOMAIN).find(({ dedicated }) => dedicated?.loadBalancerId === name)
  if (found === undefined) throw new Error(`${name ?? 'the network'} has no proxy`)
  return found
}
const directoryOf = (driver: HaproxyDriver, name?: string) => join(lab.runDirectory, placeOf(driver, name).name)
const pidOf = (driver: HaproxyDriver, name?: string): number =>
  Number(readFileSync(join(directoryOf(driver, name), 'pid'), 'utf8'))
const groupOf = (pid: number): string => readFileSync(`/proc/${pid}/cgroup`, 'utf8')
const memberOf = async (driver: HaproxyDriver, name: string) =>
  (await ask({ host, port: portOf(driver, `${name}-80`) })).member

it('load balancers of one network have processes of their own, beside the shared one', async () => {
  const member = await started(httpMember('web'))
  const driver = lab.driver()
  await put(driver, balanced('a', member, {}))
  await put(driver, balanced('b', member, {}))
  await put(driver, balanced('c', member))
  await put(driver, balanced('d', member))
  const pids = ['a', 'b', undefined].map((name) => pidOf(driver, name))
  expect(new Set(pids).size).toBe(3)
  expect(driver.proxyCounts()).toEqual({ shared: 1, dedicated: 2 })
  expect(new Set(pids.map(groupOf)).size).toBe(3)
  for (const name of ['a', 'b', 'c', 'd']) expect(await memberOf(driver, name)).toBe('web')
  const stats = await driver.stats()
  expect(stats.map(({ loadBalancerId, totalConnections }) => [loadBalancerId, totalConnections]).sort()).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', 1],
    ['d', 1],
  ])
  expect(await driver.observe()).toEqual([])
})

it('one that is killed takes no other along, nor their connections, and comes back', async () => {
  const member = await started(httpMember('web'))
  const driver = lab.driver()
  await put(driver, balanced('a', member, {}))
  await put(driver, balanced('b', member, {}))
  await put(driver, balanced('c', member))
  const [killed, b, shared] = [pidOf(driver, 'a'), pidOf(driver, 'b'), pidOf(driver)]
  const clients = ['b', 'c'].map((name) => askForever({ host, port: portOf(driver, `${name}-80`) }))
  await waitFor(() => clients.every(({ asked }) => asked() > 10), { what: 'clients of the others' })
  process.kill(killed, 'SIGKILL')
  await waitFor(async () => (await memberOf(driver, 'a').catch(() => null)) === 'web', { what: 'the next process' })
  const before = clients.map(({ asked }) => asked())
  await waitFor(() => clients.every(({ asked }, index) => asked() > before[index]! + 10), { what: 'more answers' })
  const failures = (await Promise.all(clients.map(({ stop }) => stop()))).flatMap((each) => each.failures)
  expect(failures).toEqual([])
  expect(pidOf(driver, 'a')).not.toBe(killed)
  expect([pidOf(driver, 'b'), pidOf(driver)]).toEqual([b, shared])
  recordFault({
    fault: 'the proxy of one load balancer is killed',
    outcome: 'it comes back; load balancers of the same network with other proxies lose no request',
    figure: '0 failed requests of others',
  })
})

it('has the limits of its class, and others those of the node', async () => {
  const member = await started(httpMember('web'))
  const driver = lab.driver()
  await put(driver, balanced('a', member, { memoryMegabytes: 64, processors: 0.25, connections: 100 }))
  await put(driver, balanced('b', member, {}))
  const limitOf = async (name: string) => (await lab.host.memory(placeOf(driver, name).name))?.limitBytes
  expect(await limitOf('a')).toBe(64 * 1024 ** 2)
  expect(await limitOf('b')).toBe(256 * 1024 ** 2)
  const quotaOf = (name: string) =>
    readFileSync(`/sys/fs/cgroup/cpu/${lab.cgroup}/${placeOf(driver, name).name}/cpu.cfs_quota_us`, 'utf8')
  expect([Number(quotaOf('a')), Number(quotaOf('b'))]).toEqual([25_000, 100_000])
  expect((await driver.connections(DOMAIN, 'a'))?.most).toBe(100)
  expect((await driver.connections(DOMAIN, 'b'))?.most).toBe(4_000)
  // The proxy has no memory beyond that of its class.
  const read = memoryShare({ places: (domain) => driver.placesOf(domain), memory: (name) => lab.host.memory(name) })
  expect(await read.read(DOMAIN)).toMatchObject([
    { share: 'memory', loadBalancerId: 'a', limit: 64 * 1024 ** 2, refused: 0 },
    { share: 'memory', loadBalancerId: 'b' },
  ])
})

it('one that is full of clients holds up no other', async () => {
  const member = await started(httpMember('web'))
  const driver = lab.driver({ options: { sourceShare: 1, requestWithinMs: 60_000 } })
  await put(driver, balanced('a', member, { connections: 100 }))
  await put(driver, balanced('b', member, {}))
  const slow = crowd({ host, port: portOf(driver, 'a-80') }, 'GET / HTTP/1.1\r\nHost: slow\r\nX-Slow: ')
  try {
    slow.enter(await lab.source(2), 150)
    await waitFor(async () => (await driver.connections(DOMAIN, 'a'))?.current === 100, { what: 'a full proxy' })
    expect(await memberOf(driver, 'b')).toBe('web')
    const waiting = await dial(host, portOf(driver, 'a-80'))
    waiting.write('GET / HTTP/1.0\r\n\r\n')
    expect(await memberOf(driver, 'b')).toBe('web')
    expect(waiting.received()).toBe('')
    waiting.end()
  } finally {
    slow.end()
  }
})

it('the next agent takes it over, and ends one that no load balancer has', async () => {
  const member = await started(httpMember('web'))
  const first = lab.driver()
  const entries = ['a', 'b', 'c'].map((name) => balanced(name, member, {}))
  for (const entry of entries) await put(first, entry)
  const [pids, ports] = ['a', 'b', 'c'].reduce<[number[], number[]]>(
    ([p, q], name) => [
      [...p, pidOf(first, name)],
      [...q, portOf(first, `${name}-80`)],
    ],
    [[], []],
  )
  const left = directoryOf(first, 'a')
  await first.close()

  const next = lab.driver()
  // In another order: the seat is that of the running process, not the next one.
  const [, b, c] = entries.map((entry) => sampleWanted(entry))
  await next.adopt([c!, b!])
  expect([pidOf(next, 'b'), pidOf(next, 'c')]).toEqual([pids[1], pids[2]])
  expect([portOf(next, 'b-80'), portOf(next, 'c-80')]).toEqual([ports[1], ports[2]])
  expect(next.counters).toEqual({ transactions: 0, reloads: 0 })
  await next.apply({ put: [], remove: [] })
  expect(existsSync(left)).toBe(false)
  await put(next, balanced('n', member, {}))
  expect(placeOf(next, 'n').dedicated?.seat).toBe(0)
  expect(await memberOf(next, 'n')).toBe('web')
})

it('a load balancer that is deleted leaves nothing, and its ports to the next', async () => {
  const member = await started(httpMember('web'))
  const driver = lab.driver({ options: { graceMs: 50 } })
  await put(driver, balanced('a', member, {}))
  const [directory, port] = [directoryOf(driver, 'a'), portOf(driver, 'a-80')]
  await driver.apply({ put: [], remove: ['lb/a'] })
  await waitFor(() => !existsSync(directory), { what: 'the end of its proxy' })
  expect(driver.proxyCounts()).toEqual({ shared: 0, dedicated: 0 })
  await put(driver, balanced('b', member, {}))
  await driver.stopDomain(DOMAIN)
  expect(driver.placesOf(DOMAIN)).toEqual([])
  await put(driver, balanced('c', member, {}))
  expect(portOf(driver, 'c-80')).toBe(port)
})

it('an entry that turns to a proxy of its own keeps its connections, and refuses no new one', async () => {
  const echo = await started(tcpMember('echo'))
  const driver = lab.driver()
  const entry = sampleEntry(
    't',
    [sampleService('t-7', { protocol: 'tcp-proxy', port: 7 })],
    [samplePool(1, { mode: 'tcp-proxy', members: [memberAt(echo)] })],
  )
  await put(driver, entry)
  await put(driver, balanced('c', await started(httpMember('web'))))
  const old = await dial(host, portOf(driver, 't-7'))
  old.write('one')
  await waitFor(() => old.received() === 'one', { what: 'the echo' })
  await put(driver, { ...entry, dedicatedProxy: {} })
  const young = await dial(host, portOf(driver, 't-7'))
  young.write('two')
  await waitFor(() => young.received() === 'two', { what: 'the echo through its own' })
  old.write('+')
  await waitFor(() => old.received() === 'one+', { what: 'the echo through the shared one' })
  for (const connection of [old, young]) connection.end()
})
