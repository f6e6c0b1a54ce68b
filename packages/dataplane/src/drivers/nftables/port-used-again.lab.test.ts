import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../../announcer.ts'
import { Arrangement } from '../../lab/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../lab/entries.ts'
import { LabNode } from '../../lab/lab-node.ts'
import type { Peer } from '../../lab/peer-client.ts'

const instanceOf = (place: string): string => `${place}${(process.pid % 46_656).toString(36)}`
const signal = new AbortController().signal

const red = domainEntry(1)
const onOther = domainEntry(1, {
  subnets: red.subnets.map((each) => ({ ...each, nodeAddress: each.nodeAddress.replace('250', '251') })),
})
const entry = wanted('t', red, {
  vips: [vip('10.9.0.140'), vip('fd09::140')],
  services: [service('l1', 80, 5)],
  pools: [
    pool(5, [member('m1', '10.0.0.11'), member('m2', '10.0.0.12'), member('m3', 'fd01::11'), member('m4', 'fd01::12')]),
  ],
})
const addresses = entry.entry.vips.map(
  ({ address }): Announcement => ({ address, scope: 'fabric', domain: 1, by: { via: 'l2' } }),
)

let lab: Arrangement
let first: LabNode
let second: LabNode
let client: Peer

beforeAll(async () => {
  lab = await Arrangement.create(`spt${process.pid}u`)
  client = lab.peer('client')
  first = await LabNode.start(lab, 'node1', instanceOf('u'))
  second = await LabNode.start(lab, 'node2', instanceOf('v'))
  for (const node of [first, second]) {
    await node.domains.adopt([])
    await hold(node, false)
    const applied = await node.driver.apply({ put: [entry], remove: [] }, signal)
    expect(applied).toMatchObject([{ state: 'programmed' }])
  }
})

afterAll(async () => {
  for (const node of [first, second]) await node?.end([red.number])
  await lab?.[Symbol.asyncDispose]()
})

/** Members reply through the node that holds their gateway. */
async function hold(node: LabNode, isHeld: boolean): Promise<void> {
  const domain = node === first ? red : onOther
  const put = [{ ...domain, gateway: isHeld ? ({ via: 'l2' } as const) : null }]
  expect(await node.domains.apply({ put, remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
}

const announce = async (node: LabNode, isAnnounced: boolean): Promise<void> => {
  const outcomes = await node.announcer.apply(isAnnounced ? addresses : [], signal)
  expect(outcomes.filter(({ error }) => error !== null)).toEqual([])
}

/** Replies first: what a member says meets the new node before any request does. */
async function moveReplies(to: LabNode): Promise<void> {
  await hold(to === first ? second : first, false)
  await hold(to, true)
}

async function moveRequests(to: LabNode): Promise<void> {
  await announce(to === first ? second : first, false)
  await announce(to, true)
}

/** Members say something unasked, and every client hears it. */
async function push(text: string, opened: readonly { readonly connection: number }[]): Promise<void> {
  const heard = opened.map(({ connection }) => client.hear(connection))
  for (const place of ['red1', 'red2']) await lab.peer(place).push(text)
  expect(await Promise.all(heard)).toEqual(opened.map(() => text))
}

async function say(text: string, opened: readonly { readonly connection: number }[]): Promise<void> {
  for (const { connection } of opened) expect(await client.say(connection, text)).toBe(text)
}

/** A connection to each address, each from a port of its own. */
const openFrom = (port: number) =>
  Promise.all(
    addresses.map(async ({ address }, at) => {
      const sourcePort = port + at
      const { connection, line } = await client.open(address, 80, { sourcePort })
      expect(line).toMatch(/^red[12] /)
      return { address, sourcePort, connection }
    }),
  )

type Opened = Awaited<ReturnType<typeof openFrom>>

/** They end by a reset: their ports are free at once. */
async function resetAll(opened: Opened): Promise<void> {
  for (const { connection } of opened) await client.reset(connection)
}

/** From the same ports as before. */
async function expectOpenAgain(opened: Opened): Promise<void> {
  await resetAll(await openFrom(opened[0]!.sourcePort))
}

/** Who began the TCP flows to these ports that the node tracks: their sources. */
async function trackedBy(node: LabNode, opened: Opened): Promise<readonly string[]> {
  const inDomain = `nsenter --net=${node.domains.netns(red.number)}`
  const lists = ['ipv4', 'ipv6'].map((family) =>
    lab.run(node === first ? 'node1' : 'node2', `${inDomain} conntrack -L -p tcp -f ${family}`),
  )
  const ports = new Set(opened.map(({ sourcePort }) => String(sourcePort)))
  return (await Promise.all(lists))
    .flatMap((list) => list.split('\n'))
    .filter((line) => Array.from(line.matchAll(/port=(\d+)/g)).some(([, port]) => ports.has(port!)))
    .map((line) => / src=(\S+)/.exec(line)![1]!)
    .sort()
}

const CLIENT = ['10.9.0.9', 'fd09::9']

beforeEach(async () => {
  await moveReplies(first)
  await moveRequests(first)
})

describe('a node that takes replies before requests', () => {
  it('carries them for as long as the requests take another way, and keeps no flow for that', async () => {
    const opened = await openFrom(41_000)
    await moveReplies(second)
    for (let round = 0; round < 3; round++) {
      await push(`unasked ${round}`, opened)
      await say(`hello ${round}`, opened)
    }
    expect(await trackedBy(second, opened)).toEqual([])
    expect(await trackedBy(first, opened)).toEqual(CLIENT)
    await resetAll(opened)
  })

  it("tracks each flow from the client's next packet on", async () => {
    const opened = await openFrom(41_010)
    await moveReplies(second)
    await push('unasked', opened)
    await moveRequests(second)
    await say('hello', opened)
    expect(await trackedBy(second, opened)).toEqual(CLIENT)
    await push('unasked again', opened)
    await resetAll(opened)
  })
})

describe("a client's port used again", () => {
  it('opens where a member spoke first and the requests never came', async () => {
    const opened = await openFrom(41_020)
    await moveReplies(second)
    await push('unasked', opened)
    await resetAll(opened)
    await moveRequests(second)
    await expectOpenAgain(opened)
  })

  it('opens where a member spoke first, the client went on, and both came back after a time elsewhere', async () => {
    const opened = await openFrom(41_030)
    await moveReplies(second)
    await push('unasked', opened)
    await moveRequests(second)
    await say('hello', opened)

    await moveReplies(first)
    await moveRequests(first)
    await say('and back', opened)
    await resetAll(opened)

    await moveReplies(second)
    await moveRequests(second)
    await expectOpenAgain(opened)
  })

  it('opens where the requests of the connection before took one node and its replies another', async () => {
    const opened = await openFrom(41_040)
    await moveReplies(second)
    await push('unasked', opened)
    await say('hello', opened)
    await resetAll(opened)
    await moveReplies(first)
    await expectOpenAgain(opened)
    await moveReplies(second)
    await moveRequests(second)
    await expectOpenAgain(opened)
  })
})
