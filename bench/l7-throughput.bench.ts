/**
 * HTTP through a tenant's proxy as Spout runs it, compared with a hand-written haproxy.cfg for the same job: same
 * program, one thread, two members, in a namespace of the same node over the same hops. Rounds take turns. Two copies
 * of the same proxy differ by some percent for their lifetime, by where the kernel puts them and what they share. So
 * everything is set up many times, and each time counts once.
 */
import { FAST_PORTS, memberAddress, startFastMember } from '@spout/testkit'
import { startHandWritten } from './bed/hand-written.ts'
import { requestsPerSecond } from './bed/load.ts'
import { compile, LineProgram } from './bed/native.ts'
import { createTree, untilActive } from './bed/octavia.ts'
import { withSpout } from './bed/spout-bed.ts'
import { median, pairedRatio } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = 0.98
const NODE = 'node1'
const SEGMENT = 'tenant-b'
const options = benchOptions()
const SITTINGS = options.quick ? 1 : 21
const ROUNDS = 5
const SECONDS = 1

type Results = Readonly<Record<'spout' | 'handWritten', number[]>>

/** Rounds on a newly set up system. */
async function sitting(results: Results): Promise<void> {
  await withSpout({ nodes: [NODE], members: false }, async ({ lab, access, publicPoolId, snat }) => {
    for (const n of [1, 2]) await startFastMember(lab, `${SEGMENT}-member${n}`)
    const members = [0, 1].map((index) => ({ address: memberAddress(index), protocol_port: FAST_PORTS.first }))
    const created = await createTree(access, snat, {
      name: 'bench',
      networkId: publicPoolId,
      protocol: 'HTTP',
      members,
    })
    await untilActive(access, snat, created.id)
    const handWritten = await startHandWritten(lab, {
      ...{ name: 'proxy', node: NODE, segment: SEGMENT, index: 3, binds: (address: string) => [`${address}:80`] },
    })
    await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
    for (const address of [created.vip_address, handWritten])
      if ((await prober.ask(`${address} 80`)).startsWith('-1')) throw new Error(`${address} does not answer`)
    const ways = [
      ['spout', created.vip_address],
      ['handWritten', handWritten],
    ] as const
    for (let round = 0; round < ROUNDS; round++)
      for (const [way, address] of round % 2 === 0 ? ways : ways.toReversed())
        results[way].push(await requestsPerSecond(lab, `http://${address}/`, SECONDS))
  })
}

const range = (samples: readonly number[]): string =>
  `${Math.round(Math.min(...samples))}-${Math.round(Math.max(...samples))}`

const results: Results = { spout: [], handWritten: [] }
const ratios: number[] = []
for (let n = 0; n < SITTINGS; n++) {
  await sitting(results)
  ratios.push(pairedRatio(results.spout.slice(-ROUNDS), results.handWritten.slice(-ROUNDS)))
}
const ratio = median(ratios)
printRow(
  {
    name: 'l7-throughput',
    ours: { perSecond: median(results.spout) },
    peer: { perSecond: median(results.handWritten) },
    comparedWith: 'a hand-written haproxy.cfg for the same job in a namespace of the same node',
    ratio,
    goal: `>= ${GOAL} of the hand-written one (median of the sittings' ratios)`,
    pass: ratio >= GOAL,
    detail: {
      sittings: ratios.map((one) => one.toFixed(3)).join(' '),
      roundsOfEach: ROUNDS,
      ours: range(results.spout),
      handWritten: range(results.handWritten),
    },
  },
  options,
)
