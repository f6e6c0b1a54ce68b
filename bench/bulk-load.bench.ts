/**
 * 10,000 L4 listeners of 64 slots each into a node that holds nothing: from the first line of the state stream at the
 * agent to the kernel's last answer. Beside it, `nft -f` of the same table with the same elements.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { must, run } from '@spout/testkit'
import { nftText } from './bed/nft-text.ts'
import { NodeBed, nextApplied } from './bed/node-bed.ts'
import { peakResidentMb, residentMb } from './bed/processes.ts'
import { median } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { ms: 2000, rssMb: 200 }
const options = benchOptions()
const COUNT = 10_000
const ROUNDS = options.quick ? 1 : 3
/** Carries the addresses; the other one is filled and emptied. */
const [OWNER, EMPTY] = ['node1', 'node2'] as const

await using bed = await NodeBed.create()
const { lab } = bed
await bed.startAgent(OWNER)
await bed.connected(OWNER)
await bed.fill(COUNT)
await bed.confirmed()

const loadMs: number[] = []
const rssMb: number[] = []
const peakMb: number[] = []
const peerMs: number[] = []
let elements = 0
for (let round = 0; round < ROUNDS; round++) {
  const agent = await bed.startAgent(EMPTY)
  let [entries, firstNs, lastNs] = [0, 0n, 0n]
  while (entries < COUNT) {
    const line = await nextApplied(agent)
    if (entries === 0) firstNs = BigInt(line.arrivedNs)
    entries += line.entries
    lastNs = BigInt(line.doneNs)
  }
  loadMs.push(Number(lastNs - firstNs) / 1e6)
  await bed.confirmed()
  rssMb.push(residentMb(agent.pid))
  peakMb.push(peakResidentMb(agent.pid))
  const node = bed.controlPlane.view.list('node').find(({ name }) => name === EMPTY)
  const peer = nftText(bed, node?.id ?? '')
  elements = peer.elements
  await bed.empty(EMPTY)

  const file = path.join(lab.directory, 'peer.nft')
  const namespace = lab.namespace('peer')
  writeFileSync(file, peer.text)
  await must(['ip', 'netns', 'add', namespace])
  const started = performance.now()
  await must(['nsenter', `--net=/run/netns/${namespace}`, '--', 'nft', '-f', file], { timeoutMs: 120_000 })
  peerMs.push(performance.now() - started)
  await run(['ip', 'netns', 'delete', namespace])
}

const ours = { ms: median(loadMs), rssMb: median(rssMb) }
const peer = { ms: median(peerMs) }
printRow(
  {
    name: 'bulk-load',
    ours,
    peer,
    comparedWith:
      '`nft -f` of the same table and elements, parsed and sent (the agent also reads, renders and journals)',
    ratio: ours.ms / peer.ms,
    goal: `10000 L4 listeners x 64 slots into an empty node <= ${GOAL.ms} ms, agent <= ${GOAL.rssMb} MB RSS`,
    pass: ours.ms <= GOAL.ms && ours.rssMb <= GOAL.rssMb,
    detail: {
      listeners: COUNT,
      elements,
      rounds: ROUNDS,
      minMs: Math.min(...loadMs),
      maxMs: Math.max(...loadMs),
      peakRssMb: Math.max(...peakMb),
      peerMinMs: Math.min(...peerMs),
      peerMaxMs: Math.max(...peerMs),
    },
  },
  options,
)
