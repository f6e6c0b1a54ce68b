import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LabNode } from '../../testing/lab-node.ts'
import { type OpenFlow, TwoNodes } from '../../testing/nftables/two-nodes.ts'
import type { Peer } from '../../testing/peer-client.ts'
import { SequencedClient } from '../../testing/sequenced-client.ts'

let nodes: TwoNodes
let first: LabNode
let second: LabNode
let client: Peer

beforeAll(async () => {
  nodes = await TwoNodes.create()
  ;({ first, second, client } = nodes)
})

afterAll(() => nodes?.[Symbol.asyncDispose]())

const moveReplies = (to: LabNode) => nodes.moveReplies(to)
const moveRequests = (to: LabNode) => nodes.moveRequests(to)
const openFrom = (port: number) => nodes.openFrom(port)
const trackedBy = (node: LabNode, opened: Opened) => nodes.trackedBy(node, opened)

/** Members send a text without a request, and every client gets it. */
async function push(text: string, opened: readonly { readonly connection: number }[]): Promise<void> {
  const heard = opened.map(({ connection }) => client.hear(connection))
  for (const place of ['red1', 'red2']) await nodes.lab.peer(place).push(text)
  expect(await Promise.all(heard)).toEqual(opened.map(() => text))
}

async function say(text: string, opened: readonly { readonly connection: number }[]): Promise<void> {
  for (const { connection } of opened) expect(await client.say(connection, text)).toBe(text)
}

type Opened = readonly OpenFlow[]

/** They end by a reset: their ports are free at once. */
async function resetAll(opened: Opened): Promise<void> {
  for (const { connection } of opened) await client.reset(connection)
}

/** From the same ports as before. */
async function expectOpenAgain(opened: Opened): Promise<void> {
  await resetAll(await openFrom(opened[0]!.sourcePort))
}

const PATIENT = { timeout: 20_000 }

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

  it('is free again where another connection of it, whose numbers were far ahead, was seen and not its end', async () => {
    const served = async () => Promise.all(['red1', 'red2'].map((place) => nodes.lab.peer(place).served()))
    const before = await served()
    const vip = { address: '10.9.0.140', port: 80 }
    const openAt = (first: number) =>
      SequencedClient.open(nodes.lab.namespace('client'), vip, { sourcePort: 41_050, first })
    const ahead = await openAt(3_000_000_000)
    await moveReplies(second)
    await moveRequests(second)
    expect(await ahead.say('from elsewhere')).toBe('from elsewhere')
    await ahead.reset()
    await expect.poll(served, PATIENT).toEqual(before)

    const behind = await openAt(1_000_000_000)
    await moveReplies(first)
    await moveRequests(first)
    expect(await behind.say('and back')).toBe('and back')
    await behind.reset()
    await expect.poll(served, PATIENT).toEqual(before)
    await (await openAt(2_000_000_000)).reset()
  })

  it('opens although the SYN+ACK passed another node, in a flow of the connection before', async () => {
    const before = await openFrom(41_060)
    await moveRequests(second)
    await say('hello', before)
    await resetAll(before)
    const again = openFrom(41_060)
    await expect.poll(() => nodes.trackedBy(second, before, 'SYN_SENT'), PATIENT).toEqual(CLIENT)
    await moveReplies(second)
    await resetAll(await again)
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
