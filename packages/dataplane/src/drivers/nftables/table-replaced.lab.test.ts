import { afterAll, beforeAll, expect, it } from 'vitest'
import { domainNames } from '../../domain/domain-names.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode } from '../../testing/lab-node.ts'
import { renderSkeleton } from './skeleton.ts'
import { TableContent } from './table-content.ts'

const signal = new AbortController().signal
const ROUNDS = 25
/** Unused services, with which the table takes a while to fill. */
const FURTHER = 100

const red = domainEntry(1)
const m1 = member('m1', '10.0.0.11')
const m2 = member('m2', '10.0.0.12')
const v6 = [member('m3', 'fd01::11'), member('m4', 'fd01::12')] as const

/** Port 80 leads to red1 and port 81 to red2, over TCP and UDP. */
const entry = wanted('a', red, {
  vips: [vip('10.9.0.100'), vip('fd09::100')],
  services: [
    service('l1', 80, 1),
    service('l2', 81, 2),
    service('l3', 80, 1, { protocol: 'udp' }),
    service('l4', 81, 2, { protocol: 'udp' }),
    ...Array.from({ length: FURTHER }, (_, index) => service(`f${index}`, 1000 + index, 10 + index)),
  ],
  pools: [
    pool(1, [m1, v6[0]]),
    pool(2, [m2, v6[1]]),
    ...Array.from({ length: FURTHER }, (_, index) => pool(10 + index, [m1, m2])),
  ],
})

let lab: Arrangement
let node: LabNode

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red], remove: [] }, signal)
  expect(await node.driver.apply({ put: [entry], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
  await node.announcer.apply(
    entry.entry.vips.map(({ address, scope }) => ({ address, scope, domain: 1, by: { via: 'l2' } })),
    signal,
  )
})

afterAll(async () => {
  await node?.end([1])
  await lab?.[Symbol.asyncDispose]()
})

/** Makes the domain's table as an agent of another version left it: other rules, the same content. */
async function leaveOtherVersion(): Promise<void> {
  const { text, mark } = renderSkeleton()
  const { changes } = new TableContent().plan([[entry.key, node.driver.render(entry)]])
  const { netns } = domainNames(node.config, red.number)
  const at = { netns, family: 'inet', table: 'spout' } as const
  await node.helper.nftBatch({ ...at, text: text.replace(mark, 'another version'), changes })
}

/** Without it six streams of flows take the processors from what replaces tables, here and in labs beside. */
const PAUSE_MS = 2

/** Opens one flow after another until told to stop. @returns how often each answer came */
async function openFlows(until: AbortSignal, open: () => Promise<string>): Promise<Record<string, number>> {
  const answers: Record<string, number> = {}
  while (!until.aborted) {
    const answer = await open()
    answers[answer] = (answers[answer] ?? 0) + 1
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return answers
}

it('is replaced under traffic, and no flow finds it empty', async () => {
  const client = lab.peer('client')
  const done = new AbortController()
  const flows = Promise.all([
    openFlows(done.signal, () => client.connect('10.9.0.100', 80)),
    openFlows(done.signal, () => client.connect('10.9.0.100', 81)),
    openFlows(done.signal, () => client.connect('fd09::100', 80)),
    openFlows(done.signal, () => client.datagram('10.9.0.100', 80)),
    openFlows(done.signal, () => client.datagram('10.9.0.100', 81)),
    openFlows(done.signal, () => client.datagram('fd09::100', 81)),
  ])
  for (let round = 0; round < ROUNDS; round++) {
    await leaveOtherVersion()
    expect(await node.driver.observe()).toEqual([entry.key])
    const { transactions } = node.driver.counters
    await node.driver.apply({ put: [], remove: [] }, signal)
    expect(await node.driver.observe()).toEqual([])
    expect(node.driver.counters.transactions).toBe(transactions + 1)
  }
  done.abort()
  const answers = await flows
  const members = ['red1 10.9.0.9', 'red2 10.9.0.9', 'red1 fd09::9', 'red1 10.9.0.9', 'red2 10.9.0.9', 'red2 fd09::9']
  const served = answers.map((each, index) => each[members[index]!] ?? 0)
  for (const times of served) expect(times).toBeGreaterThan(ROUNDS)
  const misled = answers.flatMap((each, index) => Object.keys(each).filter((answer) => answer !== members[index]))
  expect(misled.filter((answer) => answer.startsWith('red'))).toEqual([])
  // A packet that is between two lookups of the old rules when the kernel changes over finds the second map empty: none
  // or one in a run. Without one transaction for all, every second flow is refused.
  const lost = sum(answers.flatMap((each) => Object.values(each))) - sum(served)
  expect(lost).toBeLessThan(ROUNDS / 5)
})

const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0)
