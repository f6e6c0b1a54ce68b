/**
 * What routes cost: requests a second by one of 5,000 routes of a listener, compared with a listener that has one, and
 * with Envoy that has 1,000; and the memory of a proxy with 5,000 routes, each with a pool of its own, beside Envoy's.
 */
import { callApi, FAST_PORTS, memberAddress, startFastMember, type Tenant } from '@spout/testkit'
import { type BenchRoute, startEnvoy } from './bed/envoy.ts'
import { requestsPerSecond } from './bed/load.ts'
import { untilActive } from './bed/octavia.ts'
import { proportionalMb, proxyProcesses } from './bed/processes.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { median, pairedRatio } from './percentile.ts'
import { benchOptions, isWanted, printRow } from './row.ts'

const NODE = 'node1'
const SEGMENT = 'tenant-b'
const RULES_OF_HOST = 5
/** As many as one request creates: its body is at most 1 MiB. */
const MANY = 5_000
const OF_ENVOY = 1_000
const OWN_POOLS = 5_000
/** The most that a load balancer takes. */
const POOLS_OF_BALANCER = 1_000
const ROUNDS = 7
const SECONDS = 2
const options = benchOptions()

const routesOf = (count: number): readonly BenchRoute[] =>
  Array.from({ length: count }, (_, n) => ({
    host: `h${Math.floor(n / RULES_OF_HOST)}.example.com`,
    path: `/p${n % RULES_OF_HOST}`,
  }))

interface Balancer {
  readonly id: string
  readonly vips: readonly { readonly address: string }[]
}

/** One HTTP listener with these routes. @returns its address */
async function createRouted(
  { access, publicPoolId }: SpoutBed,
  tenant: Tenant,
  routes: readonly BenchRoute[],
  { ownPools, membersOfPool }: { readonly ownPools: boolean; readonly membersOfPool: number },
): Promise<string> {
  const members = Array.from({ length: membersOfPool }, (_, at) => ({
    ...{ address: memberAddress(at), port: FAST_PORTS.first },
  }))
  const poolOf = (index: number): string => `members${ownPools ? index : 0}`
  const all = routes.map(({ host, path }, index) => ({
    name: '',
    conditions: [
      { on: 'host', compare: 'exact', values: [host] },
      { on: 'path', compare: 'elements', values: [path] },
    ],
    action: { type: 'forward', pools: [{ pool: poolOf(index) }] },
  }))
  const call = <T>(path: string, body: unknown): Promise<T> =>
    callApi<T>(access.endpoint, tenant.token, 'POST', path, body)
  const { id, vips } = await call<Balancer>('/load-balancers', {
    name: 'bench',
    vips: [{ from: 'pool', poolId: publicPoolId }],
    pools: (ownPools ? routes : routes.slice(0, 1)).map((_, at) => ({ name: poolOf(at), protocol: 'http', members })),
    listeners: [{ protocol: 'http', port: 80, routes: all }],
  })
  await untilActive(access, tenant, id)
  return vips[0]?.address ?? ''
}

const SHARED_POOL = { ownPools: false, membersOfPool: 2 }

async function measureRate(bed: SpoutBed): Promise<void> {
  const { lab, snat } = bed
  const [one, many] = [
    await createRouted(bed, snat, routesOf(1), SHARED_POOL),
    await createRouted(bed, snat, routesOf(MANY), SHARED_POOL),
  ]
  const peer = { name: 'envoy', node: NODE, segment: SEGMENT, index: 3, ownClusters: false, members: 2 }
  const envoy = await startEnvoy(lab, { ...peer, routes: routesOf(OF_ENVOY) })
  const ways = [
    ['one', one, routesOf(1)],
    ['many', many, routesOf(MANY)],
    ['envoy', envoy.address, routesOf(OF_ENVOY)],
  ] as const
  const rates = { one: [] as number[], many: [] as number[], envoy: [] as number[] }
  const rounds = options.quick ? 3 : ROUNDS
  for (let round = 0; round <= rounds; round++)
    for (const [way, address, routes] of round % 2 === 0 ? ways : ways.toReversed()) {
      const { host, path } = routes[Math.floor(routes.length / 2)]!
      const rate = await requestsPerSecond(lab, `http://${address}${path}`, SECONDS, host)
      // The first round is not counted.
      if (round > 0) rates[way].push(rate)
    }
  const row = (name: string, peerRates: readonly number[], comparedWith: string, goal: number) => {
    const ratio = pairedRatio(rates.many, peerRates)
    printRow(
      {
        ...{ name, comparedWith, ratio, pass: ratio >= goal },
        ours: { perSecond: median(rates.many) },
        peer: { perSecond: median(peerRates) },
        goal: `>= ${goal} of its requests a second, with ${MANY} routes for ${MANY / RULES_OF_HOST} hosts on one listener`,
        detail: { rounds },
      },
      options,
    )
  }
  row('l7-routes', rates.one, 'a listener with one route', 0.9)
  row('l7-routes-envoy', rates.envoy, `Envoy 1.40.0 with ${OF_ENVOY} routes`, 2)
}

/** The goal and Envoy's figure beside it are of pools with one member. */
const MEMORY_ROWS = [
  { name: 'route-memory', membersOfPool: 1, mostMb: 100, ofEnvoy: 1 },
  { name: 'route-memory-two', membersOfPool: 2, mostMb: Infinity, ofEnvoy: 0.5 },
] as const

async function measureMemory(
  bed: SpoutBed,
  { name, membersOfPool, mostMb, ofEnvoy }: (typeof MEMORY_ROWS)[number],
): Promise<void> {
  const { lab } = bed
  const [tenant, segment] = membersOfPool === 1 ? [bed.gateway, 'tenant-a'] : [bed.snat, SEGMENT]
  const routes = routesOf(OWN_POOLS)
  const own = { ownPools: true, membersOfPool }
  const before = new Set(await proxyProcesses(lab))
  for (let first = 0; first < OWN_POOLS; first += POOLS_OF_BALANCER)
    await createRouted(bed, tenant, routes.slice(first, first + POOLS_OF_BALANCER), own)
  const proxies = (await proxyProcesses(lab)).filter((process) => !before.has(process))
  const ours = Math.max(...proxies.map((process) => proportionalMb(Number.parseInt(process, 10))))
  const peer = { name: `envoy-own-${membersOfPool}`, node: NODE, segment, index: 3 + membersOfPool, ownClusters: true }
  const { pid } = await startEnvoy(lab, { ...peer, routes, members: membersOfPool })
  const envoy = proportionalMb(pid)
  printRow(
    {
      name,
      ours: { pssMb: ours },
      peer: { pssMb: envoy },
      comparedWith: 'Envoy 1.40.0 with as many routes, clusters and members',
      ratio: ours / envoy,
      goal: `${mostMb < Infinity ? `<= ${mostMb} MB` : `<= ${ofEnvoy} of Envoy's`} with ${OWN_POOLS} routes, each with a pool of its own`,
      pass: ours <= mostMb && ours <= envoy * ofEnvoy,
      detail: { loadBalancers: OWN_POOLS / POOLS_OF_BALANCER },
    },
    options,
  )
}

await withSpout({ nodes: [NODE], members: false }, async (bed) => {
  for (const n of [1, 2]) await startFastMember(bed.lab, `${SEGMENT}-member${n}`)
  if (isWanted('l7-routes', options) || isWanted('l7-routes-envoy', options)) await measureRate(bed)
  for (const row of MEMORY_ROWS) if (isWanted(row.name, options)) await measureMemory(bed, row)
})
