import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LabNode } from '../testing/lab-node.ts'
import { TwoNodes } from '../testing/nftables/two-nodes.ts'
import { SEGMENT } from './domain-names.ts'

let nodes: TwoNodes

beforeAll(async () => {
  nodes = await TwoNodes.create()
})

afterAll(() => nodes?.[Symbol.asyncDispose]())

const macOf = async (node: LabNode): Promise<string> =>
  /"address":"([0-9a-f:]+)"/.exec(await nodes.inDomain(node, `ip -j link show dev ${SEGMENT}`))![1]!

it.each([
  { gateway: '10.0.0.1', filter: 'arp[6:2] = 1 and arp[14:4] = arp[24:4]' },
  { gateway: 'fd01::1', filter: 'icmp6 and ip6[40] = 136 and ether dst 33:33:00:00:00:01' },
])('a node that gave the gateway $gateway away does not announce it any more', async ({ gateway, filter }) => {
  const { first, second, lab } = nodes
  const [former, heir] = [await macOf(first), await macOf(second)]
  const argv = ['netns', 'exec', lab.namespace('red1'), 'tcpdump', '-lnei', 'eth0', filter]
  const child = spawn('ip', argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const heard: string[] = []
  createInterface({ input: child.stdout }).on(
    'line',
    (line) => line.includes(gateway) && heard.push(line.split(' ')[1]!),
  )
  try {
    await once(child.stderr, 'data')
    await nodes.moveReplies(first)
    await nodes.moveReplies(second)
    // Three rounds, which began later than those of the first node.
    await expect.poll(() => heard.filter((mac) => mac === heir).length, { timeout: 10_000 }).toBe(3)
    expect(heard).toEqual([former, heir, heir, heir])
  } finally {
    child.kill('SIGKILL')
  }
})
