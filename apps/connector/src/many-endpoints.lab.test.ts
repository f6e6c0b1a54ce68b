import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  bundled,
  byLength,
  type Daemon,
  msSince,
  nodeManagementAddress,
  PRODUCT_ENVIRONMENT,
  recordFault,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ControllerBed,
  condition,
  ips,
  openControllerBed,
} from '../../../packages/intents/service/src/testing/controller-bed.fixture.ts'
import { type CountingWay, countingWay } from './testing/counting-way.fixture.ts'

// A connector in a network of its own, with one cable to both sides: a tenant's API server, and a hub whose bytes are
// counted. Kubernetes writes at most 100 endpoints into a slice.
const PROGRAM = bundled(path.join(import.meta.dirname, 'main.ts'))
const SLICES = 100
const IN_SLICE = 100
const ALL = SLICES * IN_SLICE
/** Slots of the largest table: members of a pool that is balanced per connection. */
const MOST_SLOTS = 4096
const CUT_MS = byLength(12_000, 300_000)
const PATIENCE_MS = 120_000

let bed: ControllerBed
let way: CountingWay
let connector: Daemon

beforeAll(async () => {
  bed = await openControllerBed()
  await bed.spout.admission.setQuota(bed.project.id, { members: 3 * ALL })
  way = await countingWay(bed.lab.hostAddress, Number(new URL(bed.endpoint).port))
  await writeSlices((slice) => slice)
}, 300_000)
afterAll(async () => {
  await way?.[Symbol.asyncDispose]()
  await bed?.close()
})

/** Writes slices with hundreds that are numbered as `hundredOf` says; a hundred is `10.128.N.1` to `.100`. */
async function writeSlices(hundredOf: (slice: number) => number, count = SLICES): Promise<void> {
  for (let slice = 0; slice < count; slice++) await writeHundred(slice, addressesIn(hundredOf(slice)))
}
const addressesIn = (hundred: number): readonly string[] =>
  Array.from({ length: IN_SLICE }, (_, host) => `10.128.${hundred}.${host + 1}`)
const writeHundred = (slice: number, addresses: readonly string[], service = 'wide') =>
  bed.slice(
    service,
    {
      addressType: 'IPv4',
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    },
    `${service}-${slice}`,
  )

async function startConnector(): Promise<Daemon> {
  const { token } = await bed.spout.login('connector-wide', bed.project.id, 'balancer')
  const tokenFile = path.join(bed.lab.directory, 'token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const settings = [
    `spout.endpoint=http://${bed.lab.hostAddress}:${way.port}`,
    `spout.tokenFile=${tokenFile}`,
    `kubernetes.kubeconfig=${bed.cluster.kubeconfigFile}`,
    'leader.elect=false',
    'http.host=127.0.0.1',
    'http.port=0',
    'services.addressPools=[public, six]',
  ]
  const argv = [process.execPath, PROGRAM, ...settings.flatMap((setting) => ['--set', setting])]
  return bed.lab.start('node1', 'connector', argv, { env: PRODUCT_ENVIRONMENT, readyText: '"event":"listening"' })
}

const soon = <T>(what: string, probe: () => T | Promise<T>) => bed.until(what, probe, PATIENCE_MS)
const membersOf = async (name: string) => bed.documentOf(await bed.get(name))?.pools[0]?.members ?? []
const addressesOf = async (name: string) => new Set((await membersOf(name)).map(({ address }) => address))
const has = async (name: string, count: number) => (await membersOf(name)).length === count
/** The nodes confirm a load balancer, until the Service shows what holds. */
const shows = (name: string, what: string, holds: (reason: string, message: string) => boolean) =>
  soon(`${name}: ${what}`, async () => {
    const service = await bed.get(name)
    const document = bed.documentOf(service)
    if (document !== undefined) bed.confirm(document)
    const shown = condition(service)
    return shown?.status === 'True' && holds(shown.reason, shown.message)
  })
/** What the connector has used: its largest memory, and its time on processors. */
function used(): { readonly memoryMb: number; readonly cpuMs: number } {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${connector.pid}/status`, 'utf8')) ?? []
  const ticks = readFileSync(`/proc/${connector.pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return { memoryMb: Math.round(Number(kilobytes) / 1024), cpuMs: 10 * (Number(ticks[11]) + Number(ticks[12])) }
}
/** The work, with the bytes that it took to the hub and back, and its time. */
async function counted(work: () => Promise<unknown>): Promise<{ readonly up: number; readonly figure: string }> {
  const [before, began, usedBefore] = [way.bytes(), performance.now(), used()]
  await work()
  const after = way.bytes()
  const [up, down] = [after.up - before.up, after.down - before.down]
  const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`
  const cpuMs = used().cpuMs - usedBefore.cpuMs
  return { up, figure: `${kilobytes(up)} there, ${kilobytes(down)} back, ${msSince(began)}, ${cpuMs} ms of processor` }
}

test('a Service of ten thousand endpoints has as many members as its pool has room for, and says so', async () => {
  connector = await startConnector()
  const first = await counted(async () => {
    await bed.create('wide')
    await soon('members', () => has('wide', MOST_SLOTS))
  })
  await shows(
    'wide',
    'how many are left out',
    (reason, message) =>
      reason === 'EndpointsLeftOut' &&
      message === 'tcp/80: 5904 left out: a pool balanced per connection has at most 4096 members.',
  )
  const address = ips(await bed.get('wide'))
  // The proxy has room for all.
  const all = await counted(async () => {
    await bed.change('wide', { metadata: { annotations: { 'spout.dev/proxy-protocol': 'v2' } } })
    await soon('every member', () => has('wide', ALL))
  })
  await shows('wide', 'nothing', (reason) => reason === 'Programmed')
  expect(ips(await bed.get('wide'))).toEqual(address)
  const { memoryMb } = used()
  expect(memoryMb).toBeLessThan(400)
  recordFault({
    fault: 'kubernetes: a Service of 10,000 endpoints, a connector between it and the hub',
    outcome: 'per connection the first 4,096 count, and the Service says so; behind the proxy all',
    figure: `4,096: ${first.figure}; 10,000: ${all.figure}; at most ${memoryMb} MB`,
  })
}, 300_000)

test('a change costs what it changes: one endpoint, and then all ten thousand', async () => {
  const [, ...rest] = addressesIn(0)
  const one = await counted(async () => {
    await writeHundred(0, [...rest, '10.128.255.1'])
    await soon('it', async () => {
      const now = await addressesOf('wide')
      return now.has('10.128.255.1') && !now.has('10.128.0.1')
    })
  })
  expect(one.up).toBeLessThan(5000)
  const every = await counted(async () => {
    await writeSlices((slice) => 100 + slice)
    const wanted = new Set(Array.from({ length: SLICES }, (_, slice) => addressesIn(100 + slice)).flat())
    await soon('all of them', async () => (await addressesOf('wide')).symmetricDifference(wanted).size === 0)
  })
  expect(every.up).toBeLessThan(400 * ALL)
  recordFault({
    fault: 'kubernetes: endpoints of a Service of 10,000 are replaced',
    outcome: 'requests are as long as what changes',
    figure: `one: ${one.figure}; all, slice by slice: ${every.figure}; at most ${used().memoryMb} MB`,
  })
}, 300_000)

/** How the connector is cut off: what goes through its cable is lost, and nobody is told. */
const CUTS = {
  'both sides': {
    cut: () => bed.lab.cable('node1', 'mgmt0', 'cut'),
    mend: () => bed.lab.cable('node1', 'mgmt0', 'mended'),
  },
  'the hub alone': {
    cut: () => {
      const [own, hub] = [nodeManagementAddress(bed.lab.number, 0), bed.lab.hostAddress]
      const lines = [
        ...['add table bridge cut', 'add chain bridge cut lost { type filter hook forward priority 0; }'],
        `add rule bridge cut lost ip saddr ${own} ip daddr ${hub} drop`,
        `add rule bridge cut lost ip saddr ${hub} ip daddr ${own} drop`,
      ]
      return bed.lab.must('fabric', ['nft', '-f', '-'], { input: `${lines.join('\n')}\n` })
    },
    mend: () => bed.lab.must('fabric', ['nft', 'delete', 'table', 'bridge', 'cut']),
  },
} as const

test.each([
  ['both sides', 0],
  ['the hub alone', 100],
] as const)(
  'cut off from %s it changes nothing, and then brings what has changed meanwhile',
  async (from, hundreds) => {
    const [going, coming] = [`going-${hundreds}`, `coming-${hundreds}`]
    await bed.create(going)
    await soon('its address', async () => ips(await bed.get(going)).length > 0)
    const addresses = ips(await bed.get('wide'))
    const before = JSON.stringify(bed.documents())
    const began = performance.now()
    await CUTS[from].cut()
    await writeSlices((slice) => hundreds + slice, 20)
    // It stays until its load balancer is gone.
    await bed.remove(going)
    await bed.create(coming)
    // That nothing happens for a while is what is tested.
    await pause(Math.max(0, CUT_MS - (performance.now() - began)))
    expect(JSON.stringify(bed.documents())).toBe(before)
    await CUTS[from].mend()
    const back = performance.now()
    const after = await counted(async () => {
      const wanted = new Set(
        Array.from({ length: SLICES }, (_, slice) => addressesIn(slice < 20 ? hundreds + slice : 100 + slice)).flat(),
      )
      await soon('the endpoints of now', async () => (await addressesOf('wide')).symmetricDifference(wanted).size === 0)
      await soon('the deleted one to go', async () => (await bed.get(going).catch(() => null)) === null)
      await soon('an address of the new one', async () => ips(await bed.get(coming)).length > 0)
    })
    const resumed = msSince(back)
    expect(ips(await bed.get('wide'))).toEqual(addresses)
    const names = bed.documents().map(({ name }) => name)
    expect(names).toContain(`shop/${coming}`)
    expect(names).not.toContain(`shop/${going}`)
    expect(after.up).toBeLessThan(400 * 20 * IN_SLICE)
    recordFault({
      fault: `kubernetes: the connector is cut off from ${from}`,
      outcome: 'nothing changes meanwhile; endpoints, a deleted and a new Service follow afterwards',
      whole: 'five minutes',
      figure: `${Math.round(CUT_MS / 1000)} s, all as wanted ${resumed} after the cable was mended, ${after.figure}`,
    })
  },
  900_000,
)

test('thousands of forged endpoints are left out, and the good ones beside them serve', async () => {
  await bed.create('forged')
  const forged = Array.from({ length: 30 }, (_, slice) =>
    Array.from({ length: IN_SLICE }, (__, host) => `192.168.${slice}.${host + 1}`),
  )
  await writeHundred(99, addressesIn(250), 'forged')
  await soon('the good ones', () => has('forged', IN_SLICE))
  const cost = await counted(async () => {
    for (const [slice, addresses] of forged.entries()) await writeHundred(slice, addresses, 'forged')
    await writeHundred(98, addressesIn(251), 'forged')
    await soon('more good ones', () => has('forged', 2 * IN_SLICE))
    await shows('forged', 'what is left out', (reason, message) =>
      /^3000 left out: .*192\.168\./.test(reason === 'EndpointsLeftOut' ? message : ''),
    )
  })
  expect([...(await addressesOf('forged'))].filter((address) => address.startsWith('192.168.'))).toEqual([])
  expect(cost.up).toBeLessThan(5_000_000)
  recordFault({
    fault: 'kubernetes: 3,000 forged endpoints beside 200 good ones',
    outcome: 'the hub refuses them, the Service says how many and why, the good ones serve',
    figure: cost.figure,
  })
}, 300_000)
