import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ShareWatch } from '../../domain/shares/share-watch.ts'
import { ask, crowd, httpMember, type LabMember, MEMBER_ADDRESS, ProxyLab } from '../../testing/haproxy/proxy-lab.ts'
import {
  sampleEntry,
  sampleMember,
  samplePool,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { memoryShare } from './place/memory-share.ts'
import { DEFAULT_LIMITS, SystemHost } from './place/proxy-host.ts'

const lab = await ProxyLab.create()
const log = { debug: () => {}, info: () => {}, warn: () => {} }
let member: LabMember

beforeAll(async () => {
  member = await httpMember('web')
})
afterAll(async () => {
  member?.close()
  await lab.down()
})

const memory = async () => (await lab.host.memory(lab.place.name))!
const pid = (): number => Number(readFileSync(join(lab.runDirectory, lab.place.name, 'pid'), 'utf8'))

async function narrowTo(memoryBytes: number): Promise<void> {
  const host = await SystemHost.probe(lab.cgroup, { ...DEFAULT_LIMITS, memoryBytes })
  await host.confine(lab.place, pid())
}

it('a proxy that uses nearly all its memory is reported, and one that the kernel killed', async () => {
  const driver = lab.driver({ options: { sourceShare: 1, requestWithinMs: 60_000 } })
  const server = sampleMember(1, { id: 'web', address: MEMBER_ADDRESS, port: member.port })
  const entry = sampleEntry('web', [sampleService('web')], [samplePool(1, { members: [server] })])
  await driver.apply({ put: [sampleWanted(entry)], remove: [] })
  const to = { host: lab.place.address4!, port: driver.proxyPort('web')!.port }
  const source = memoryShare({ places: () => [lab.place], memory: (name) => lab.host.memory(name) })
  // The clock stands still, so reading seems to take no time and no look is too early.
  const watch = new ShareWatch({ domains: () => [7], sources: [source], log, now: () => 0 })
  const slow = crowd(to, 'GET / HTTP/1.1\r\nHost: slow\r\nX-Slow: ')
  try {
    slow.enter(await lab.source(2), 500)
    await waitFor(async () => (await driver.connections(7))?.current === 500, { what: '500 clients' })
    expect(await watch.look()).toEqual([])
    const before = await memory()
    expect(before).toMatchObject({ limitBytes: DEFAULT_LIMITS.memoryBytes, oomKills: 0 })
    // The kernel counts what it has set aside for each processor, and takes that back when the limit changes.
    const over = await waitFor(
      async () => {
        await narrowTo(Math.ceil((await memory()).usedBytes * 1.03))
        const found = await watch.look()
        return found.length > 0 && found
      },
      { what: 'the proxy to use nearly all its memory' },
    )
    const { limitBytes } = await memory()
    expect(over).toEqual([{ domain: 7, share: 'memory', limit: limitBytes, refused: false }])

    const full = pid()
    slow.enter(await lab.source(3), 1_500)
    await waitFor(async () => (await memory()).oomKills > 0, { what: 'the kernel to end the proxy' })
    expect(await watch.look()).toMatchObject([{ share: 'memory', refused: true }])
    slow.end()
    await waitFor(() => pid() !== full, { what: 'the next proxy' })
    await waitFor(async () => (await ask(to).catch(() => null))?.status === 200, { what: 'an answer of it' })
    recordFault({
      fault: 'a tenant takes more than its share of a node: its proxy wants more memory',
      outcome: 'it is told of before, and once the kernel ended the proxy; the next one answers',
      figure: `${Math.round(before.usedBytes / 500 / 1024)} KB for each client that drips its header`,
    })
  } finally {
    slow.end()
  }
})
