/**
 * The cost of the packet path with 30,000 listeners on the node: bulk TCP, requests on kept-alive connections, and new
 * connections. Compared with the same path without NAT (plain routing) and with a hand-written DNAT of one rule. All
 * three go client, router, node, a namespace on the node, tenant network, member; the rounds take turns.
 */
import { FAST_PORTS, type Lab, memberAddress, must, startFastMember } from '@spout/testkit'
import { gigabitsPerSecond, requestsPerSecond } from './bed/load.ts'
import { compile, LineProgram } from './bed/native.ts'
import { NodeBed, nextApplied, tcpLoadBalancer } from './bed/node-bed.ts'
import { addPeerDomain } from './bed/peer-domain.ts'
import { median, pairedRatio, percentile } from './percentile.ts'
import { type BenchRow, benchOptions, isWanted, printRow } from './row.ts'

const options = benchOptions()
const LISTENERS = 30_000
const ROUNDS = options.quick ? 4 : 21
const SECONDS = 1
const CONNECTS = 3000
const NODE = 'node1'
const MEMBER = memberAddress(0)
const PORTS = { http: FAST_PORTS.first, bulk: 5201 } as const
const VIP = '198.51.100.100'
const HAND_WRITTEN_VIP = '192.0.2.2'
const GOAL = { ofPlain: 0.9, ofHandWritten: 0.97, connect: 1.15 }

/** Every path listens on the member's ports, so that only addresses differ. */
const WAYS = { plain: MEMBER, spout: VIP, handWritten: HAND_WRITTEN_VIP } as const
type Way = keyof typeof WAYS
const WAY_NAMES = Object.keys(WAYS) as readonly Way[]

async function addPeers(lab: Lab): Promise<void> {
  const common = { node: NODE, segment: 'tenant-a' }
  await addPeerDomain(lab, { ...common, name: 'plain', index: 1, destination: MEMBER })
  const { namespace } = await addPeerDomain(lab, { ...common, name: 'dnat', index: 2, destination: HAND_WRITTEN_VIP })
  const rules = [
    'table ip lb {',
    '  chain prerouting {',
    '    type nat hook prerouting priority dstnat;',
    `    ip daddr ${HAND_WRITTEN_VIP} dnat to ${MEMBER}`,
    '  }',
    '}',
  ]
  await must(['ip', 'netns', 'exec', namespace, 'nft', '-f', '-'], { input: `${rules.join('\n')}\n` })
}

/** Measures each path in turn, `ROUNDS` times; each round begins with another path. */
async function rounds(measure: (address: string) => Promise<number>): Promise<Record<Way, number[]>> {
  const results: Record<Way, number[]> = { plain: [], spout: [], handWritten: [] }
  for (let round = 0; round < ROUNDS; round++)
    for (let turn = 0; turn < WAY_NAMES.length; turn++) {
      const way = WAY_NAMES[(round + turn) % WAY_NAMES.length] ?? 'plain'
      results[way].push(await measure(WAYS[way]))
    }
  return results
}

const range = (samples: readonly number[]): string =>
  `${Math.min(...samples).toPrecision(3)}-${Math.max(...samples).toPrecision(3)}`

function throughputRow(name: string, unit: string, results: Record<Way, number[]>): BenchRow {
  const [ours, plain, handWritten] = [median(results.spout), median(results.plain), median(results.handWritten)]
  const ratios = {
    ofPlain: pairedRatio(results.spout, results.plain),
    ofHandWritten: pairedRatio(results.spout, results.handWritten),
  }
  return {
    name,
    ours: { [unit]: ours, ...ratios },
    peer: { [`plain_${unit}`]: plain, [`handWritten_${unit}`]: handWritten },
    comparedWith: 'plain routing, and a hand-written nft DNAT of one rule, over the same hops',
    ratio: ratios.ofPlain,
    goal: `>= ${GOAL.ofPlain} of plain routing, >= ${GOAL.ofHandWritten} of the hand-written one (medians of the rounds' ratios)`,
    pass: ratios.ofPlain >= GOAL.ofPlain && ratios.ofHandWritten >= GOAL.ofHandWritten,
    detail: {
      listeners: LISTENERS,
      rounds: ROUNDS,
      ours: range(results.spout),
      plain: range(results.plain),
      handWritten: range(results.handWritten),
    },
  }
}

function connectRow(p50: Record<Way, number[]>, p99: Record<Way, number[]>): BenchRow {
  const [ours, plain, handWritten] = [median(p50.spout), median(p50.plain), median(p50.handWritten)]
  return {
    name: 'l4-connect',
    ours: { p50Us: ours, p99Us: median(p99.spout) },
    peer: { plain_p50Us: plain, plain_p99Us: median(p99.plain), handWritten_p50Us: handWritten },
    comparedWith: 'plain routing, and a hand-written nft DNAT of one rule, over the same hops',
    ratio: pairedRatio(p50.spout, p50.plain),
    goal: `connect p50 at 30000 listeners <= ${GOAL.connect} of plain routing`,
    pass: pairedRatio(p50.spout, p50.plain) <= GOAL.connect,
    detail: {
      listeners: LISTENERS,
      rounds: ROUNDS,
      connectsPerRound: CONNECTS,
      ofHandWritten: pairedRatio(p50.spout, p50.handWritten),
      ours: range(p50.spout),
      plain: range(p50.plain),
      handWritten: range(p50.handWritten),
    },
  }
}

await using bed = await NodeBed.create()
const { lab } = bed
const agent = await bed.startAgent(NODE)
await bed.connected(NODE)
await bed.fill(LISTENERS)
const ports = Object.values(PORTS).map((port) => ({ listener: port, member: port }))
await bed.write([tcpLoadBalancer(bed.network, 'bench', VIP, ports, [MEMBER])])
for (let entries = 0; entries < LISTENERS + 1; ) entries += (await nextApplied(agent)).entries
await bed.confirmed()
await addPeers(lab)
await startFastMember(lab, 'tenant-a-member1')
await lab.start('tenant-a-member1', 'iperf3', ['iperf3', '-s', '-p', String(PORTS.bulk)])

await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
for (const address of Object.values(WAYS))
  if ((await prober.ask(`${address} ${PORTS.http}`)).startsWith('-1')) throw new Error(`${address} does not answer`)

if (isWanted('l4-throughput', options)) {
  const bulk = await rounds((address) => gigabitsPerSecond(lab, address, PORTS.bulk, SECONDS))
  printRow(throughputRow('l4-throughput', 'gbitPerSecond', bulk), options)
}
if (isWanted('l4-requests', options)) {
  const requests = await rounds((address) => requestsPerSecond(lab, `http://${address}:${PORTS.http}/`, SECONDS))
  printRow(throughputRow('l4-requests', 'perSecond', requests), options)
}
if (isWanted('l4-connect', options)) {
  const connect = await compile(lab, 'connect-rate')
  const p99: Record<string, number[]> = {}
  const p50 = await rounds(async (address) => {
    const output = await lab.must('client', [connect, String(CONNECTS), String(PORTS.http), address])
    const us = output
      .split('\n')
      .filter(Boolean)
      .map((ns) => Number(ns) / 1000)
    if (us.some((one) => one < 0)) throw new Error(`${address}: a connect failed`)
    p99[address] = [...(p99[address] ?? []), percentile(us, 0.99)]
    return median(us)
  })
  const byWay = (way: Way): number[] => p99[WAYS[way]] ?? []
  printRow(
    connectRow(p50, { plain: byWay('plain'), spout: byWay('spout'), handWritten: byWay('handWritten') }),
    options,
  )
}
