/**
 * One of 100 members leaves and comes back: whose flows move. In the slot tables as the planner makes them, and on
 * packets: 5,000 UDP flows through a node, every one new to it (connection tracking is flushed in between). Beside: a
 * Maglev table of the size Envoy takes, over the same members.
 */
import { NO_MEMBER } from '@spout/model/node-state'
import { decodeSlots, editSlots, type SlotAssignment } from '@spout/plan'
import { memberAddress, must, type Tenant } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { createTree, type Endpoint, octavia, untilActive } from './bed/octavia.ts'
import { domainNamespaces } from './bed/processes.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { maglevTable } from './failover/maglev.ts'
import { EchoMembers, MEMBER_PORTS } from './failover/observers.ts'
import { finish } from './failover/results.ts'
import { options } from './failover/settings.ts'

const MEMBERS = 100
const REMOVED = 37
const FLOWS = options.quick ? 1000 : 5000
const FIRST_SOURCE = 20_000
const GOAL_UNEVEN = 0.05

type Table = readonly (string | null)[]

/** Flows of members other than `leaver` that another member serves now, as a share of all of theirs. */
function movedShare(before: Table, after: Table, leaver: string): number {
  const others = before.flatMap((owner, slot) => (owner === leaver ? [] : [[owner, after[slot]]]))
  return others.filter(([was, is]) => was !== is).length / others.length
}

/** The farthest that a member's share is from even. */
function unevenness(table: Table, members: number): number {
  const counts = new Map<string | null, number>()
  for (const owner of table) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  const even = table.length / members
  return Math.max(...[...counts.values()].map((count) => Math.abs(count - even) / even))
}

const names = Array.from({ length: MEMBERS }, (_, n) => `m${n}`)
const leaver = names[REMOVED] ?? ''
const fewer = names.filter((name) => name !== leaver)

const ownersOf = ({ members, slots }: SlotAssignment): Table =>
  Array.from(decodeSlots(slots), (index) => (index === NO_MEMBER ? null : (members[index] ?? null)))

function tables(): { readonly ours: readonly Table[]; readonly maglev: readonly Table[] } {
  const wanted = (ids: readonly string[]) => ids.map((id) => ({ id, weight: 1, backup: false }))
  const all = editSlots(null, wanted(names))
  const without = editSlots(all, wanted(fewer))
  const again = editSlots(without, wanted(names))
  return { ours: [all, without, again].map(ownersOf), maglev: [names, fewer, names].map((list) => maglevTable(list)) }
}

interface Moves {
  readonly left: number
  readonly returned: number
  readonly unanswered: number
}

/** On leaving nobody else's flow may move; on coming back only those move that it takes over. */
async function packets({ lab, access, publicPoolId }: SpoutBed, tenant: Tenant): Promise<Moves> {
  await using _members = await EchoMembers.start(lab, ['tenant-a-member1', 'tenant-a-member2'], MEMBERS)
  const endpoints = names.map(
    (_, n): Endpoint => ({ address: memberAddress(n % 2), protocol_port: MEMBER_PORTS.numbered + n }),
  )
  const created = await createTree(access, tenant, {
    name: 'hash',
    networkId: publicPoolId,
    protocol: 'UDP',
    members: endpoints,
  })
  await untilActive(access, tenant, created.id)
  const argv = [await compile(lab, 'who-answers'), created.vip_address, '80', String(FIRST_SOURCE), String(FLOWS)]
  await using asker = new LineProgram(lab, 'client', argv)
  const look = async (): Promise<Table> => {
    for (const domain of domainNamespaces(lab)) await must(['ip', 'netns', 'exec', domain, 'conntrack', '-F'])
    return (await asker.ask('')).trim().split(' ')
  }
  const change = async (members: readonly Endpoint[]): Promise<Table> => {
    await octavia(access, tenant, 'PUT', `/pools/${created.pools[0]?.id}/members`, { members })
    await untilActive(access, tenant, created.id)
    return look()
  }
  const before = await look()
  const without = await change(endpoints.filter((_, n) => n !== REMOVED))
  const again = await change(endpoints)
  const port = String(MEMBER_PORTS.numbered + REMOVED)
  return {
    left: movedShare(before, without, port),
    returned: movedShare(again, without, port),
    unanswered: [before, without, again].flat().filter((answer) => answer === '-').length,
  }
}

await withSpout({ members: false }, async (bed) => {
  const { ours, maglev } = tables()
  const moves = await packets(bed, bed.gateway)
  const left = (list: readonly Table[]) => movedShare(list[0] ?? [], list[1] ?? [], leaver)
  /** Seen backwards: who had a flow before the member came back, and has another one though it is not the comer. */
  const returned = (list: readonly Table[]) => movedShare(list[2] ?? [], list[1] ?? [], leaver)
  const uneven = (list: readonly Table[]) =>
    Math.max(...list.map((table, n) => unevenness(table, n === 1 ? MEMBERS - 1 : MEMBERS)))
  const figures = { tableMoved: left(ours) + returned(ours), packetsMoved: moves.left + moves.returned }
  finish({
    name: 'hash-disruption',
    ours: { ...figures, uneven: uneven(ours) },
    peer: { tableMoved: left(maglev) + returned(maglev), uneven: uneven(maglev) },
    comparedWith: 'a Maglev table of 65,537 slots over the same members',
    ratio: null,
    goal: `0 of other members' flows move when 1 of ${MEMBERS} leaves and comes back; every share within ${GOAL_UNEVEN} of even`,
    pass:
      figures.tableMoved === 0 && figures.packetsMoved === 0 && moves.unanswered === 0 && uneven(ours) <= GOAL_UNEVEN,
    detail: { slots: ours[0]?.length ?? 0, flows: FLOWS, unanswered: moves.unanswered },
  })
})
