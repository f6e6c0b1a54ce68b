/**
 * From asking to being answered: one POST of a whole load balancer to the Octavia API, until a client behind the router
 * reads the first 200 from its address. The client's prober is one process that begins once the POST has answered.
 */
import { memberAddress, type Tenant } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { createTree } from './bed/octavia.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { percentile, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { p50Ms: 50, p99Ms: 250 }
const options = benchOptions()
const COUNT = options.quick ? 20 : 100
/** Not counted, quick or not: the first are slower. */
const WARM_UP = 10

interface Sample {
  readonly postMs: number
  readonly firstByteMs: number
}

async function measure(
  { access, publicPoolId }: SpoutBed,
  prober: LineProgram,
  tenant: Tenant,
  protocol: 'HTTP' | 'TCP',
  count: number,
): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  for (let n = 0; n < WARM_UP + count; n++) {
    const startedNs = process.hrtime.bigint()
    const { vip_address: vip } = await createTree(access, tenant, {
      name: `bench-${n}`,
      networkId: publicPoolId,
      protocol,
      members: [0, 1].map((index) => ({ address: memberAddress(index), protocol_port: 8080 })),
    })
    const postedNs = process.hrtime.bigint()
    const [answeredNs = '-1'] = (await prober.ask(`${vip} 80`)).split(' ')
    if (answeredNs === '-1') throw new Error(`${vip} never answered`)
    const ms = (until: bigint): number => Number(until - startedNs) / 1e6
    if (n >= WARM_UP) samples.push({ postMs: ms(postedNs), firstByteMs: ms(BigInt(answeredNs)) })
  }
  return samples
}

await withSpout({}, async (bed) => {
  await using prober = new LineProgram(bed.lab, 'client', [await compile(bed.lab, 'first-byte')])
  const http = await measure(bed, prober, bed.snat, 'HTTP', COUNT)
  const tcp = await measure(bed, prober, bed.gateway, 'TCP', COUNT)
  const ours = spread(http.map(({ firstByteMs }) => firstByteMs))
  const l4 = spread(tcp.map(({ firstByteMs }) => firstByteMs))
  printRow(
    {
      name: 'create-to-first-byte',
      ours,
      peer: null,
      comparedWith: 'nothing: no peer does this here',
      ratio: null,
      goal: `p50 <= ${GOAL.p50Ms} ms, p99 <= ${GOAL.p99Ms} ms over 100 load balancers with an HTTP listener`,
      pass: ours.p50Ms <= GOAL.p50Ms && ours.p99Ms <= GOAL.p99Ms,
      detail: {
        loadBalancers: COUNT,
        firstOfTenantMs: http[0]?.firstByteMs ?? Number.NaN,
        postP50Ms: percentile(
          http.map(({ postMs }) => postMs),
          0.5,
        ),
        l4P50Ms: l4.p50Ms,
        l4P99Ms: l4.p99Ms,
        l4MaxMs: l4.maxMs,
        path: 'client, router, node, tenant network, member; two nodes carry each',
      },
    },
    options,
  )
})
