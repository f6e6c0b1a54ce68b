import type { Sight } from '@spout/model/node-report'
import { systemClock } from '@spout/runtime'
import { recordFault } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Arrangement } from '../../testing/arrangement.ts'
import { LabNode } from '../../testing/lab-node.ts'
import { NeighbourWatch } from './neighbour-watch.ts'

let lab: Arrangement
let node: LabNode

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
})

afterAll(async () => {
  await node?.end([])
  await lab?.[Symbol.asyncDispose]()
})

it.each([
  ['10.9.0.181', '10.9.0.182'],
  ['fd09::181', 'fd09::182'],
])('says who answers for %s, and who does not any more', async (alive, dead) => {
  const hold = (isHeld: boolean) =>
    lab.run(
      'client',
      `ip address ${isHeld ? 'replace' : 'delete'} ${alive}/${alive.includes(':') ? '128' : '32'} dev eth0`,
    )
  await hold(true)
  const watch = new NeighbourWatch({ config: node.config, helper: node.helper, clock: systemClock })
  let seen: readonly Sight[] = []
  watch.onChange((sights) => {
    seen = sights
  })
  try {
    watch.configure([
      { nodeId: 'one', addresses: [dead, alive] },
      { nodeId: 'two', addresses: [dead] },
    ])
    const both = (one: boolean) => [
      { nodeId: 'one', answers: one },
      { nodeId: 'two', answers: false },
    ]
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(both(true))
    await hold(false)
    const began = performance.now()
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(both(false))
    recordFault({
      fault: `l2: a missed node stops to answer for ${alive}`,
      outcome: 'its neighbour says so',
      figure: `after ${Math.round(performance.now() - began)} ms`,
    })
    watch.configure([])
    expect(seen).toEqual([])
  } finally {
    await watch.close()
  }
})
