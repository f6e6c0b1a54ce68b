import { type LoadBalancer, NO_MEMBER, type Placement } from '@spout/model'
import { decodeSlots, type LoadBalancerPlan } from '@spout/plan'
import { printable } from '@spout/runtime/printable'
import { renderTable } from '../../output/table.ts'

type PlacedPool = Placement['pools'][number]

/** How many hash slots each member serves; empty for a pool that the proxy balances. */
function slotCounts(pool: PlacedPool | undefined): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const index of pool?.slots ? decodeSlots(pool.slots) : []) {
    const id = index === NO_MEMBER ? null : pool?.members[index]
    if (id) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** Slots that move to another member although their member stays. */
function movedSlots(before: PlacedPool | undefined, after: PlacedPool): number {
  if (!before?.slots || !after.slots || before.slots.size !== after.slots.size) return 0
  const old = decodeSlots(before.slots)
  const now = decodeSlots(after.slots)
  const staying = new Set(after.members)
  let moved = 0
  for (const [slot, index] of old.entries()) {
    const had = before.members[index] ?? null
    const has = after.members[now[slot] ?? NO_MEMBER] ?? null
    if (had !== null && had !== has && staying.has(had)) moved++
  }
  return moved
}

/** Prints the plan's decision for people. */
export function planText({
  wanted,
  before,
  after,
  nodeName,
}: {
  readonly wanted: LoadBalancer
  readonly before: LoadBalancerPlan | null
  readonly after: LoadBalancerPlan
  readonly nodeName: (id: string) => string
}): string {
  const { placement, reason, entries } = after
  const names = new Map(
    wanted.pools.flatMap((pool) =>
      pool.members.map((member) => [member.id, printable(member.name || member.address)] as const),
    ),
  )
  const pools = placement.pools.flatMap((pool) => {
    const was = before?.placement.pools.find(({ poolId }) => poolId === pool.poolId)
    const counts = slotCounts(pool)
    const old = slotCounts(was)
    const title = `\nPool ${printable(wanted.pools.find(({ id }) => id === pool.poolId)?.name ?? pool.poolId)}`
    if (!pool.slots)
      return [`${title}: balanced by the proxy, ${pool.members.filter((id) => id !== null).length} members\n`]
    const rows = [...new Set([...counts.keys(), ...old.keys()])].map((id) => [
      names.get(id) ?? id,
      String(old.get(id) ?? 0),
      String(counts.get(id) ?? 0),
    ])
    return [
      `${title}: ${pool.slots.size} slots, ${movedSlots(was, pool)} of them taken from members that stay\n`,
      renderTable(['MEMBER', 'SLOTS NOW', 'SLOTS THEN'], rows, false),
    ]
  })
  return [
    `Load balancer ${printable(wanted.name || wanted.id)}: ${reason.code}. ${printable(reason.message)}\n`,
    `Carried by ${entries.size} nodes${placement.ownerNodeId ? `, announced by ${nodeName(placement.ownerNodeId)}` : ''}.\n`,
    ...pools,
    '\nNothing was stored.\n',
  ].join('')
}
