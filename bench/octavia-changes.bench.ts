/**
 * Changes of a load balancer by the Octavia API until every node has confirmed them: 1,000 members in one request, and
 * ten pools at once. Debian's octavia-api, asked for the same in turns, has no node and a provider that is done at
 * once: its figure is its own part alone.
 */
import { memberAddress } from '@spout/testkit'
import { startOctaviaServer } from '@spout/testkit/octavia-server'
import { askOctavia, type OctaviaAccess, untilActive } from './bed/octavia.ts'
import { withSpout } from './bed/spout-bed.ts'
import { median, pairedRatio, spread } from './percentile.ts'
import { benchOptions, isWanted, printRow } from './row.ts'

const BATCH = { members: 1000, goalMs: 1000 } as const
const POOLS = { count: 10, goalMs: 500 } as const
const PEER = "Debian's octavia-api 11.0.0, which has no node"
const PROJECT = '0f5d8c622c5e4d6f9d4e5c8b6f1d2a11'
const options = benchOptions()
const ROUNDS = options.quick ? 2 : 10
/** Not counted: the first are slower. */
const WARM_UP = 2

/** One of two servers, and how to wait until its load balancer has been changed. */
interface Side extends OctaviaAccess {
  readonly vipNetworkId: string
  readonly settled: (loadBalancerId: string) => Promise<unknown>
}

/** Members at ports that no other turn has. */
const membersOf = (turn: number, count: number): readonly { address: string; protocol_port: number }[] =>
  Array.from({ length: count }, (_, n) => ({
    address: memberAddress(n % 2),
    protocol_port: 10_000 + (turn % 2) * count + (n >> 1),
  }))

interface Created {
  readonly id: string
  readonly pools: readonly { readonly id: string }[]
}

/** A load balancer with as many HTTP listeners as pools, which have no members. */
async function createPools(side: Side, count: number): Promise<Created> {
  const listeners = Array.from({ length: count }, (_, n) => ({
    ...{ name: `l${n}`, protocol: 'HTTP', protocol_port: 80 + n },
    default_pool: { name: `p${n}`, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', members: [] },
  }))
  const body = { loadbalancer: { name: 'bench', vip_network_id: side.vipNetworkId, listeners } }
  const { loadbalancer } = await askOctavia<{ loadbalancer: Created }>(side, 'POST', '/loadbalancers', body)
  await side.settled(loadbalancer.id)
  return loadbalancer
}

/** Replaces all members of a pool by as many others. */
const putMembers = (side: Side, poolId: string | undefined, turn: number, count: number): Promise<unknown> =>
  askOctavia(side, 'PUT', `/pools/${poolId}/members`, { members: membersOf(turn, count) })

/** @returns how long it took in ms */
async function batch(side: Side, { id, pools }: Created, turn: number): Promise<number> {
  const started = performance.now()
  await putMembers(side, pools[0]?.id, turn, BATCH.members)
  await side.settled(id)
  return performance.now() - started
}

/** Changes all pools at once, and those that were refused because the load balancer was busy again, until none is left. */
async function tenPools(side: Side, { id, pools }: Created, turn: number): Promise<{ ms: number; conflicts: number }> {
  const started = performance.now()
  let conflicts = 0
  for (let left = pools; left.length > 0; ) {
    const answers = await Promise.allSettled(left.map((pool) => putMembers(side, pool.id, turn, 2)))
    left = left.filter((_, n) => {
      const answer = answers[n]
      if (answer?.status !== 'rejected') return false
      if (!/: 409 /.test(String(answer.reason))) throw answer.reason
      conflicts++
      return true
    })
    await side.settled(id)
  }
  return { ms: performance.now() - started, conflicts }
}

await withSpout({ members: false }, async ({ lab, access, publicPoolId, snat }) => {
  const server = await startOctaviaServer(lab)
  const ours: Side = {
    base: `${access.endpoint}/load-balancer/v2/lbaas`,
    headers: { 'x-auth-token': snat.token },
    vipNetworkId: publicPoolId,
    settled: (id) => untilActive(access, snat, id),
  }
  const peer: Side = {
    base: `${server.endpoint}/v2/lbaas`,
    headers: server.as(PROJECT),
    vipNetworkId: publicPoolId,
    settled: server.confirm,
  }

  if (isWanted('octavia-batch-members', options)) {
    const [mine, theirs] = [await createPools(ours, 1), await createPools(peer, 1)]
    const ms: Record<'ours' | 'peer', number[]> = { ours: [], peer: [] }
    for (let turn = 0; turn < WARM_UP + ROUNDS; turn++) {
      const took = await batch(ours, mine, turn)
      if (turn < WARM_UP) continue
      ms.ours.push(took)
      // One takes many seconds.
      if (turn < WARM_UP + 3) ms.peer.push(await batch(peer, theirs, turn))
    }
    const figures = spread(ms.ours)
    printRow(
      {
        name: 'octavia-batch-members',
        ours: figures,
        peer: { p50Ms: median(ms.peer) },
        comparedWith: PEER,
        ratio: pairedRatio(ms.ours.slice(0, ms.peer.length), ms.peer),
        goal: `<= ${BATCH.goalMs} ms until both nodes have all members`,
        pass: figures.maxMs <= BATCH.goalMs,
        detail: { members: BATCH.members, replaced: BATCH.members, rounds: ROUNDS, roundsOfPeer: ms.peer.length },
      },
      options,
    )
  }

  if (isWanted('octavia-ten-pools', options)) {
    const [mine, theirs] = [await createPools(ours, POOLS.count), await createPools(peer, POOLS.count)]
    const results: Record<'ours' | 'peer', { ms: number; conflicts: number }[]> = { ours: [], peer: [] }
    for (let turn = 0; turn < WARM_UP + ROUNDS; turn++) {
      const both = { ours: await tenPools(ours, mine, turn), peer: await tenPools(peer, theirs, turn) }
      if (turn < WARM_UP) continue
      for (const side of ['ours', 'peer'] as const) results[side].push(both[side])
    }
    const times = (side: 'ours' | 'peer'): readonly number[] => results[side].map(({ ms }) => ms)
    const conflicts = (side: 'ours' | 'peer'): number => results[side].reduce((sum, one) => sum + one.conflicts, 0)
    const figures = { ...spread(times('ours')), conflicts: conflicts('ours') }
    printRow(
      {
        name: 'octavia-ten-pools',
        ours: figures,
        peer: { ...spread(times('peer')), conflicts: conflicts('peer') },
        comparedWith: PEER,
        ratio: pairedRatio(times('ours'), times('peer')),
        goal: `<= ${POOLS.goalMs} ms until both nodes have the changes of ${POOLS.count} pools sent at once; 0 answers of 409`,
        pass: figures.maxMs <= POOLS.goalMs && figures.conflicts === 0,
        detail: { pools: POOLS.count, rounds: ROUNDS },
      },
      options,
    )
  }
})
