import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Arrangement } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { LabNode } from '../testing/lab-node.ts'
import { SILENCE_MS } from '../testing/peer-client.ts'

/** The node that now holds the address that members see of all nodes. */

const signal = new AbortController().signal
const VIP = '10.9.0.100'
const SHARED = '10.0.0.249'
const red = domainEntry(1, {
  returnPath: 'snat',
  subnets: [{ cidr: '10.0.0.0/24', nodeAddress: '10.0.0.250', gatewayIp: null, sharedAddress: SHARED }],
  gateway: { via: 'vrrp', shard: 1 },
})

let lab: Arrangement
let node: LabNode

const inDomain = (command: string): Promise<string> =>
  lab.run('node1', `nsenter --net=${node.domains.netns(red.number)} ${command}`)

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red], remove: [] }, signal)
  await inDomain(`ip address add ${SHARED}/32 dev segment`)
  const entry = wanted('a', red, {
    vips: [vip(VIP)],
    services: [service('tcp', 80, 5), service('udp', 80, 5, { protocol: 'udp' })],
    pools: [pool(5, [member('m1', '10.0.0.11')])],
  })
  const programmed = await node.driver.apply({ put: [entry], remove: [] }, signal)
  expect(programmed.filter(({ state }) => state === 'failed')).toEqual([])
  const own = { address: VIP, scope: 'fabric', domain: red.number, by: { via: 'l2' } } as const
  expect((await node.announcer.apply([own], signal)).filter(({ error }) => error !== null)).toEqual([])
})
afterAll(async () => {
  await node?.end([red.number])
  await lab?.[Symbol.asyncDispose]()
})

describe('the node that has the shared address', () => {
  it('ends no connection whose reply is ahead of the word of the node that carried it', async () => {
    const client = lab.peer('client')
    const { connection, line } = await client.open(VIP, 80, { sourcePort: 20_001 })
    expect(line).toBe(`red1 ${SHARED}`)
    await inDomain('conntrack -F')
    expect(await lab.peer('red1').push('ahead')).toBe('1')
    // A refusal would arrive before the answer to this ping, and would have ended the connection.
    await lab.run('red1', `ping -c 1 -W 3 ${SHARED}`)
    expect(await lab.run('red1', `ss -Htn state established sport = :8080 dst ${SHARED}`)).toContain(SHARED)
    await client.close(connection)
  })

  it('tells nobody that a port of it is closed', async () => {
    expect(await lab.run('red1', `ping -c 1 -W 3 ${SHARED}`)).toContain(' 0% packet loss')
    expect(await lab.peer('red1').datagram(SHARED, 20_002, { withinMs: SILENCE_MS })).toBe('ETIMEDOUT')
    expect(await lab.peer('red1').connect('10.0.0.250', 20_003)).toBe('ECONNREFUSED')
  })
})
