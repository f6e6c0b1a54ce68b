import { DEFAULT_DRAIN_MS, type NodePool } from '@spout/model/node-state'
import type { Transport } from '@spout/model/protocols'
import { effectiveMembers } from '../health/effective-members.ts'

/** The member's end of a flow. */
interface FlowEnd {
  readonly address: string
  readonly port: number
}

/** A pool and the health of its members. The difference of two decides what happens to flows. */
export interface PoolHealth {
  readonly pool: NodePool
  /** Ids of members that are down. */
  readonly down: ReadonlySet<string>
}

/**
 * The state of a member as far as its flows are concerned. Flows of a backup member stay when it is no longer needed.
 */
export interface MemberFate {
  readonly end: FlowEnd
  /** It is down and carries no traffic. At the panic threshold members carry traffic although they are down. */
  readonly isLost: boolean
  /** Its weight is 0: its flows stay for a while. */
  readonly isLeaving: boolean
}

/** By endpoint: a flow does not notice that a member was deleted and created again. */
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

/** What to do with the flows of one service to one of its members. */
export type FlowChange = { readonly end: FlowEnd } /** A scheduled cut is cancelled. */ & (
  | { readonly what: 'keep' }
  /** Flows that cannot carry traffic are deleted now, or `all` of them. */
  | { readonly what: 'lose'; readonly all: boolean }
  /** The remaining flows are deleted after this time. */
  | { readonly what: 'drain'; readonly afterMs: number }
)

/**
 * What a change of a service's pool means for existing flows. Pure.
 *
 * - UDP flows of a lost member are moved at once. TCP flows stay: they end by themselves, or the member is back before
 *   they time out; `resetOnDown` ends them too. TCP flows that were never established, or are closed, are deleted in
 *   any case: a client that reuses the port would reach the dead member again.
 * - SCTP associations of a lost member stay: the kernel picks up a flow only with its first packet. An association that
 *   was never established expires within seconds.
 * - Flows of a member that leaves the pool, or gets weight 0, stay for the pool's `drainMs`, except TCP flows that were
 *   never established or are closed: a new connection from that client port would go to the member that left.
 */
export function flowChanges(
  transport: Transport,
  before: PoolHealth | null,
  after: PoolHealth | null,
): readonly FlowChange[] {
  if (before?.pool === after?.pool && before?.down === after?.down) return []
  // A bulk of new services has no flows and should cost nothing.
  if (before === null && after !== null && isSound(after)) return []
  // No member was or is down or leaving, so only added and removed members matter.
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

/** The same, at a cost in proportion to the members that differ. */
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
