import { afterAll, beforeAll, expect, it } from 'vitest'
import { wanted } from '../testing/entries.ts'
import { silent } from '../testing/lab-node.ts'
import { TwoNodes } from '../testing/nftables/two-nodes.ts'
import { SecondChance } from './second-chance.ts'

/** Members' gateway has moved to the second node, but clients still reach the first one. */

let nodes: TwoNodes
let chance: SecondChance

beforeAll(async () => {
  nodes = await TwoNodes.create()
  const { config, helper } = nodes.second
  chance = new SecondChance({ config, helper, log: silent })
  const { domain, entry } = nodes.entry
  const nodeAddresses = { n1: ['10.0.0.250', 'fd01::250'], n2: ['10.0.0.251', 'fd01::251'] }
  await chance.apply({ put: [wanted('t', { ...domain, nodeAddresses }, entry)], remove: [] })
})

afterAll(() => nodes?.[Symbol.asyncDispose]())

it('a connection begins at the node that was left, and goes on through either', async () => {
  const { client } = nodes
  await chance.configure({
    ...{ first: '10.9.0.1', firstNode: 'n1', next: null, leavingSince: null },
    ...{ since: '2026-01-01T00:00:00.000Z', seconds: 60 },
  })
  await nodes.moveRequests(nodes.first)
  await nodes.moveReplies(nodes.second)
  const opened = await nodes.openFrom(21_000)
  for (const { connection } of opened) expect(await client.say(connection, 'here')).toBe('here')
  await nodes.moveRequests(nodes.second)
  for (const { connection } of opened) expect(await client.say(connection, 'there')).toBe('there')
  for (const { connection } of opened) await client.close(connection)
})
