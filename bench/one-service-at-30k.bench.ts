/**
 * One L4 listener among 30,000 is changed. Measured from the moment when the store's commit is durable until the kernel
 * has answered the agent; in between are the view, the planner, the node-state table, the agent link (mutual TLS) and
 * the agent, in two processes. The control plane's parts run here without their HTTP surfaces, and the store is filled
 * in bulk. Compared with `nft -f` spawned for the same two elements on the same table.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type LoadBalancer, loadBalancerKey } from '@spout/model'
import { must } from '@spout/testkit'
import { appliedSince, fillAddress, NodeBed, nextApplied } from './bed/node-bed.ts'
import { domainNamespaces } from './bed/processes.ts'
import { percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { p99Ms: 5, agentMs: 1 }
const NODE = 'node1'
const options = benchOptions()
const COUNT = 30_000
const CHANGES = options.quick ? 200 : 1000
/** Not counted, quick or not: the first are slower. */
const WARM_UP = 100
const PEER_CHANGES = options.quick ? 20 : 50
const PORTS = [80, 81] as const

await using bed = await NodeBed.create()
const { lab, controlPlane } = bed
const agent = await bed.startAgent(NODE)
await bed.connected(NODE)
const fillStarted = performance.now()
const loadBalancers = [...(await bed.fill(COUNT))]
for (let entries = 0; entries < COUNT; ) entries += (await nextApplied(agent)).entries
await bed.confirmed()
const filledMs = performance.now() - fillStarted

const changed = (before: LoadBalancer, port: number): LoadBalancer => ({
  ...before,
  generation: before.generation + 1,
  listeners: before.listeners.map((listener) => ({ ...listener, port })),
})

/** The same change by hand: removes the listener's element under one port and adds the one under another. */
async function changeByNft(namespace: string, turn: number): Promise<number> {
  const file = path.join(lab.directory, 'change.nft')
  const key = (port: number) => `${fillAddress(0)} . tcp . ${port}`
  const [before, after] = turn % 2 === 0 ? [9000, 9001] : [9001, 9000]
  const lines = [
    ...(turn > 0 ? [`delete element inet spout service4 { ${key(before)} }`] : []),
    `add element inet spout service4 { ${key(after)} : 1 }`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const started = performance.now()
  await must(['nsenter', `--net=/run/netns/${namespace}`, '--', 'nft', '-f', file])
  return performance.now() - started
}

const commitMs: number[] = []
const totalMs: number[] = []
const agentMs: number[] = []
const peerMs: number[] = []
const [namespace = ''] = domainNamespaces(lab)
for (let turn = 0; turn < WARM_UP + CHANGES; turn++) {
  const index = (turn * 7919) % COUNT
  const before = loadBalancers[index]
  if (before === undefined) throw new Error('nothing to change')
  const after = changed(before, before.listeners[0]?.port === PORTS[0] ? PORTS[1] : PORTS[0])
  loadBalancers[index] = after
  const started = process.hrtime.bigint()
  await controlPlane.store.commit([
    { op: 'put', kind: 'loadBalancer', id: after.id, scope: after.projectId, value: after },
  ])
  const committed = process.hrtime.bigint()
  const line = await appliedSince(agent, started)
  if (line.lastKey !== loadBalancerKey(after.id)) throw new Error(`the agent applied ${line.lastKey}`)
  if (turn < WARM_UP) continue
  commitMs.push(Number(committed - started) / 1e6)
  totalMs.push(Number(BigInt(line.doneNs) - committed) / 1e6)
  agentMs.push(Number(BigInt(line.doneNs) - BigInt(line.arrivedNs)) / 1e6)
  if (turn % Math.floor(CHANGES / PEER_CHANGES) === 0) peerMs.push(await changeByNft(namespace, peerMs.length))
}

const ours = {
  p50Ms: percentile(totalMs, 0.5),
  p99Ms: percentile(totalMs, 0.99),
  agentP50Ms: percentile(agentMs, 0.5),
  agentP99Ms: percentile(agentMs, 0.99),
}
const peer = { p50Ms: percentile(peerMs, 0.5), p99Ms: percentile(peerMs, 0.99) }
printRow(
  {
    name: 'one-service-at-30k',
    ours,
    peer,
    comparedWith:
      '`nft -f` spawned for one element out and one in, on the same table; its figure is the kernel step alone',
    ratio: ours.p50Ms / peer.p50Ms,
    goal: `commit to the kernel's answer p99 <= ${GOAL.p99Ms} ms, of which agent and kernel <= ${GOAL.agentMs} ms (p50)`,
    pass: ours.p99Ms <= GOAL.p99Ms && ours.agentP50Ms <= GOAL.agentMs,
    detail: {
      listeners: COUNT,
      changes: CHANGES,
      commitP50Ms: percentile(commitMs, 0.5),
      commitP99Ms: percentile(commitMs, 0.99),
      maxMs: Math.max(...totalMs),
      peerChanges: peerMs.length,
      filledSeconds: filledMs / 1000,
      path: 'store, view, planner, node states, TLS link | agent, helper, kernel',
    },
  },
  options,
)
