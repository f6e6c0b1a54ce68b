import { DEFAULT_DRAIN_MS, type NodePool } from '@spout/model/node-state'
import type { Transport } from '@spout/model/protocols'
import { effectiveMembers } from '@spout/plan/effective-members'
import type { FlowEnd } from '@spout/sys'

/** A pool with what is known of its members: what became of flows follows from two of these. */
export interface PoolHealth {
  readonly pool: NodePool
  /** Ids of members that are down. */
  readonly down: ReadonlySet<string>
}

/** What a member is to the flows that it has. They stay with a backup member that rests again. */
export interface MemberFate {
  readonly end: FlowEnd
  /** It is down, and so nothing passes over them. Below the panic threshold members serve though they are down. */
  readonly isLost: boolean
  /** Its weight is 0: they stay for a while. */
  readonly isLeaving: boolean
}

/** By endpoint: a member that is deleted and made again is the same to a flow. */
export function memberFates({ pool, down }: PoolHealth): ReadonlyMap<string, MemberFate> {
  const effective = effectiveMembers(pool, down)
  const fates = new Map<string, MemberFate>()
  for (const member of pool.members) {
    if (member === null) continue
    const { id, address, port, weight } = member
    const isLost = down.has(id) && !effective.has(id)
    fates.set(`${address} ${port}`, { end: { address, port }, isLost, isLeaving: weight === 0 })
  }
  return fates
}

/** What is to be done about the flows of one service and one of its members. */
export type FlowChange = { readonly end: FlowEnd } /** Whatever was to be done before need not be done any more. */ & (
  | { readonly what: 'keep' }
  /** Flows that cannot carry anything are forgotten now, or `all` of them. */
  | { readonly what: 'lose'; readonly all: boolean }
  /** All flows that are left are forgotten after so long. */
  | { readonly what: 'drain'; readonly afterMs: number }
)

/**
 * What a change of a service's pool means for flows that are there. Pure.
 *
 * - UDP flows of a member that is lost are dealt again at once. TCP flows stay: they end by themselves, or the member is
 *   back before they time out. `resetOnDown` ends them too. Those that never came up, or are closed, go in any case:
 *   a client that uses its port again would meet the dead member once more.
 * - SCTP associations of a member that is lost stay: the kernel takes up none but by its first packet. One that never
 *   came up is forgotten by the kernel within seconds.
 * - Flows of a member that leaves the pool, or has weight 0 now, stay for the pool's `drainMs`. Not those that are TCP and
 *   never came up, or are closed: the connection that a client opens anew from that port would go to the member that left.
 */
export function flowChanges(
  transport: Transport,
  before: PoolHealth | null,
  after: PoolHealth | null,
): readonly FlowChange[] {
  if (before?.pool === after?.pool && before?.down === after?.down) return []
  // A bulk of new services has nothing to say, and is to pay nothing for it.
  if (before === null && after !== null && isSound(after)) return []
  // Nobody was or is down or leaving: then it is for who comes and goes alone.
  if (before !== null && after !== null && isSound(before) && isSound(after)) return exchanged(transport, before, after)
  const was = before === null ? NO_FATES : memberFates(before)
  const is = after === null ? NO_FATES : memberFates(after)
  const changes: FlowChange[] = []
  for (const [key, { end, isLost, isLeaving }] of is) {
    const former = was.get(key)
    const isBack = former === undefined || former.isLeaving || (former.isLost && !isLost)
    if (isBack && !isLeaving && (!isLost || former !== undefined)) changes.push({ end, what: 'keep' })
    if (isLeaving && !former?.isLeaving) changes.push(...leaving(transport, end, after))
    if (isLost && !former?.isLost && transport !== 'sctp')
      changes.push({ end, what: 'lose', all: transport === 'udp' || after?.pool.resetOnDown === true })
  }
  for (const [key, { end }] of was) if (!is.has(key)) changes.push(...leaving(transport, end, before))
  return changes
}

function leaving(transport: Transport, end: FlowEnd, pool: PoolHealth | null): readonly FlowChange[] {
  const drain = { end, what: 'drain', afterMs: drainOf(pool) } as const
  return transport === 'tcp' ? [drain, { end, what: 'lose', all: false }] : [drain]
}

/** The same, at the cost of those that differ and a glance at the others. */
function exchanged(transport: Transport, before: PoolHealth, after: PoolHealth): readonly FlowChange[] {
  const [was, is] = [before.pool.members, after.pool.members]
  const [gone, come] = [new Map<string, FlowEnd>(), new Map<string, FlowEnd>()]
  for (let at = 0; at < Math.max(was.length, is.length); at++) {
    const [one, other] = [was[at] ?? null, is[at] ?? null]
    if (one?.address === other?.address && one?.port === other?.port) continue
    if (one !== null) gone.set(`${one.address} ${one.port}`, { address: one.address, port: one.port })
    if (other !== null) come.set(`${other.address} ${other.port}`, { address: other.address, port: other.port })
  }
  const changes: FlowChange[] = []
  for (const [key, end] of come) if (!gone.delete(key)) changes.push({ end, what: 'keep' })
  for (const end of gone.values()) changes.push(...leaving(transport, end, before))
  return changes
}

const NO_FATES: ReadonlyMap<string, MemberFate> = new Map()
const drainOf = (health: PoolHealth | null): number => health?.pool.drainMs ?? DEFAULT_DRAIN_MS

const isSound = ({ pool, down }: PoolHealth): boolean =>
  down.size === 0 && pool.members.every((member) => member === null || member.weight > 0)
