import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Announcement } from '../contracts/announcer.ts'
import { Arrangement } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { LabNode } from '../testing/lab-node.ts'

const signal = new AbortController().signal
const VIPS = { 4: '10.9.0.100', 6: 'fd09::100' } as const

const red = domainEntry(1)
const entry = wanted('a', red, {
  vips: [vip(VIPS[4]), vip(VIPS[6])],
  services: [service('l1', 80, 5)],
  pools: [pool(5, [member('m1', '10.0.0.11'), member('m2', 'fd01::11')])],
})

let lab: Arrangement
let directory: string
let node: LabNode
const table = () => `netdev spout-${node.config.instance}`

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-steering-'))
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red], remove: [] }, signal)
  await node.driver.apply({ put: [entry], remove: [] }, signal)
  const announced = [VIPS[4], VIPS[6]].map((address): Announcement => {
    return { address, scope: 'fabric', domain: red.number, by: { via: 'l2' } }
  })
  await node.announcer.apply(announced, signal)
})

afterAll(async () => {
  await node?.domains.apply({ put: [], remove: [red.key] }, signal)
  await node?.die()
  await lab?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

const onNode = (command: string): Promise<string> => lab.run('node1', command)
const answers = async (): Promise<readonly string[]> => {
  const all: string[] = []
  for (const address of Object.values(VIPS))
    all.push((await lab.peer('client').connect(address, 80)).split(' ')[0] ?? '')
  return all
}
const SERVED = ['red1', 'red1']
const withoutTable = () => onNode(`nft delete table ${table()}`)

const ROUNDS = 6
const OTHER_VERSION = 'another version'

/** Makes the table as an agent of another version left it: the same rules and content, another mark. */
async function leaveOtherVersion(): Promise<void> {
  const listed = await onNode(`nft list table ${table()}`)
  const other = listed.replace(/comment "[^"]*"/, `comment "${OTHER_VERSION}"`)
  const file = path.join(directory, 'other-version.nft')
  writeFileSync(file, `delete table ${table()}\n${other}`)
  await onNode(`nft -f ${file}`)
}

/** Opens one flow after another until told to stop. @returns who answered each */
async function openFlows(until: AbortSignal, address: string): Promise<readonly string[]> {
  const all: string[] = []
  while (!until.aborted) all.push((await lab.peer('client').connect(address, 80)).split(' ')[0] ?? '')
  return all
}

describe('VIPs where their packets arrive', () => {
  it('are in the table as soon as their entry is programmed', async () => {
    expect(await onNode(`nft list table ${table()}`)).toContain(VIPS[6])
  })

  it('are served by the table alone, and by the routes alone', async () => {
    const flush = async (family: 4 | 6) => onNode(`ip -${family} route flush table 7100`)
    await flush(4)
    await flush(6)
    expect(await answers()).toEqual(SERVED)
    await withoutTable()
    expect(await answers()).not.toContain('red1')
    // The routes are missing too. They make the entry count as lost, and `apply` restores them.
    expect(await node.driver.observe()).toEqual([entry.key])
    await node.driver.apply({ put: [entry], remove: [] }, signal)
    await withoutTable()
    expect(await answers()).toEqual(SERVED)
  })

  it('are in the table again once somebody looked', async () => {
    // The previous test removed it.
    expect(await node.driver.observe()).toEqual([])
    expect(await onNode(`nft list table ${table()}`)).toContain(VIPS[6])
  })

  it('tell a sender whose packet is too old', async () => {
    const ping = (life: number) => {
      const line = `netns exec ${lab.namespace('client')} ping -n -c 1 -W 2 -t ${life} ${VIPS[4]}`
      return spawnSync('ip', line.split(' '), { encoding: 'utf8' }).stdout
    }
    expect(ping(1)).toContain('Time to live exceeded')
    expect(ping(2)).toContain('1 received')
  })

  it('follow an uplink that was made anew', async () => {
    await onNode(`ip link delete dev ${node.config.instance}u${red.number}`)
    expect(await node.domains.observe()).toEqual([red.key])
    await node.domains.apply({ put: [red], remove: [] }, signal)
    expect(await node.driver.observe()).toEqual([entry.key])
    await node.driver.apply({ put: [entry], remove: [] }, signal)
    expect(await answers()).toEqual(SERVED)
    await onNode('ip -4 route flush table 7100')
    expect((await answers())[0]).toBe('red1')
    await node.driver.observe()
    await node.driver.apply({ put: [entry], remove: [] }, signal)
  })

  it('are found by every packet while the table of another version is replaced', async () => {
    for (const family of [4, 6]) await onNode(`ip -${family} route flush table 7100`)
    const done = new AbortController()
    const flows = Promise.all(
      Object.values(VIPS)
        .flatMap((address) => [address, address])
        .map((address) => openFlows(done.signal, address)),
    )
    for (let round = 0; round < ROUNDS; round++) {
      await leaveOtherVersion()
      const { transactions } = node.driver.counters
      await node.driver.observe()
      expect(await onNode(`nft list table ${table()}`)).not.toContain(OTHER_VERSION)
      expect(node.driver.counters.transactions).toBe(transactions + 1)
    }
    done.abort()
    const all = (await flows).flat()
    expect(all.length).toBeGreaterThan(ROUNDS)
    // A packet can be between two lookups of the old rules when the kernel changes over: none or one in a run.
    expect(all.filter((answer) => answer !== 'red1').length).toBeLessThanOrEqual(1)
    await node.driver.apply({ put: [entry], remove: [] }, signal)
  })

  it('stay as they are when the agent starts again, and go with their entry', async () => {
    await node.die()
    node = await LabNode.start(lab, 'node1')
    await node.domains.adopt([red])
    await node.driver.adopt([entry])
    await node.driver.apply({ put: [entry], remove: [] }, signal)
    expect(node.driver.counters.transactions).toBe(0)
    expect(await node.driver.apply({ put: [], remove: [entry.key] }, signal)).toEqual([])
    expect(await onNode(`nft list table ${table()}`)).not.toContain(VIPS[4])
    await node.driver.apply({ put: [entry], remove: [] }, signal)
    expect(await answers()).toEqual(SERVED)
  })
})
