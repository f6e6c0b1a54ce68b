import type { LoadBalancer, Node, NodeReport } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyChange } from '../testing/any-change.ts'
import { ChangingCluster, NODES } from '../testing/changing-cluster.ts'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, MONITOR, uuid } from '../testing/model.ts'

const LOAD_BALANCERS = [1, 2, 3, 4] as const
const number = fc.constantFrom(...LOAD_BALANCERS)
const on = fc.constantFrom(...NODES)

/** An event that may change a status. Most do not change the stored load balancer. */
const event = fc.oneof(
  fc.record({ do: fc.constant('check members' as const), number }),
  fc.record({ do: fc.constant('report health' as const), number, on, health: fc.constantFrom('up', 'down') }),
  fc.record({ do: fc.constant('fail' as const), number, on }),
  fc.record({ do: fc.constant('confirm' as const) }),
  fc.record({ do: fc.constant('rename' as const), on, name: fc.constantFrom('a', 'b') }),
  fc.record({ do: fc.constant('leave' as const), number, on }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(500, 2_100, 6_000) }),
  fc.record({ do: fc.constant('change' as const), change: anyChange }),
)
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never

async function happen(cluster: ChangingCluster, one: Event): Promise<void> {
  const { plane } = cluster
  const stored = 'number' in one ? plane.view.get('loadBalancer', uuid('lb', one.number))?.value : undefined
  const node = 'on' in one ? plane.view.get('node', uuid('node', one.on))?.value : undefined
  const say = async (report: Partial<NodeReport>) => void (node && (await plane.report(node.id, report)))
  const putBalancer = (balancer: LoadBalancer) => plane.put(['loadBalancer', balancer])
  const putNode = (next: Node) => plane.put(['node', next])
  switch (one.do) {
    case 'check members': {
      const { pools, ...rest } = stored ?? loadBalancer(one.number)
      return putBalancer({ ...rest, pools: pools.map((pool) => ({ ...pool, monitor: MONITOR })) })
    }
    case 'report health':
      return say({
        members: (stored?.pools ?? []).flatMap(({ id: poolId, members }) =>
          members.map(({ id }) => ({
            ...{ loadBalancerId: uuid('lb', one.number), poolId, memberId: id },
            ...{ health: one.health as 'up' | 'down', reason: null, since: plane.clock.now().toISOString() },
          })),
        ),
      })
    case 'fail': {
      const key = `lb/${uuid('lb', one.number)}`
      const hash = node && plane.nodeStates.get(node.id, key)?.hash
      if (hash === undefined) return
      return say({ entries: [{ key, hash, state: 'failed', reason: 'Refused', message: 'no', announced: [] }] })
    }
    case 'confirm':
      return cluster.settle()
    case 'rename':
      return node && putNode({ ...node, name: one.name })
    case 'leave':
      return stored && putBalancer({ ...stored, leftNodeId: uuid('node', one.on) })
    case 'wait':
      return plane.clock.advance(one.ms)
    case 'change':
      return cluster.change(one.change)
  }
}

const statuses = ({ plane }: ChangingCluster) =>
  LOAD_BALANCERS.map((one) => {
    const { nodes, members, stats: _, ...summary } = plane.status.loadBalancer(uuid('lb', one))
    return { summary, nodes, members: [...members] }
  })

const begin = async (events: readonly Event[]): Promise<ChangingCluster> => {
  const cluster = await ChangingCluster.begin(await ControlPlane.start(new MemoryStore()))
  for (const one of events) await happen(cluster, one)
  return cluster
}

const BALANCERS: readonly Event[] = [1, 2].map((one) => ({ do: 'check members', number: one as 1 | 2 }))

test('a status that was asked for before is the same as one that was not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 10 }), async (events) => {
      const [asked, silent] = [await begin(BALANCERS), await begin([...BALANCERS, ...events])]
      for (const one of events) {
        statuses(asked)
        await happen(asked, one)
      }
      const [known, fresh] = [statuses(asked), statuses(silent)]
      for (const { plane } of [asked, silent]) await plane.stop()
      expect(known).toEqual(fresh)
    }),
    { numRuns: byLength(10, 30) },
  )
}, 60_000)
