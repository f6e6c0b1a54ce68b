import { type LoadBalancer, type Member, member, type Pool, parseAs, SpoutError, sameJson } from '@spout/model'
import { addedMemberProblem } from '@spout/plan'
import type { Pieces } from '@spout/runtime'
import type { Claim } from '../claims/claims.ts'
import type { AdmissionContext } from '../claims/context.ts'
import type { Endpoint, MemberChange } from '../contract/load-balancer-admission.ts'
import { checkedNetworkId, resolveContextOf } from './load-balancer-check.ts'
import { MOST } from './load-balancer-draft.ts'
import { claimRoom } from './load-balancer-room.ts'
import { sameForNodes } from './same-for-nodes.ts'

/** A change to a pool's members, with what depends on the load balancer alone. */
export interface PreparedMembers {
  readonly current: LoadBalancer
  /** `current` itself when nothing changes. */
  readonly next: LoadBalancer
  /** Index of the pool. */
  readonly at: number
  readonly put: readonly Member[]
  /** Indexes in `put` of members that are new. */
  readonly added: readonly number[]
}

/**
 * Applies a change to a pool's members, with pauses. Only the changed members are checked: the others were checked
 * before.
 * @throws SpoutError NotFound for an unknown pool; fields are paths in the change, such as `put[0].address`
 */
export function* preparingMembers(
  { index }: AdmissionContext,
  current: LoadBalancer,
  change: MemberChange,
  now: string,
): Pieces<PreparedMembers> {
  const at = current.pools.findIndex(({ id }) => id === change.poolId)
  const pool = current.pools[at]
  if (pool === undefined) throw new SpoutError('NotFound', { what: 'Pool', id: change.poolId })
  const put: Member[] = []
  for (const [index, one] of change.put.entries()) {
    if (index > 0) yield
    put.push(parseAs(member, one, `put[${index}]`))
  }
  const changed = yield* changingMembers(pool, put, change.remove)
  if (changed === null) return { current, next: current, at, put, added: [] }
  const pools = current.pools.with(at, { ...pool, members: [...changed.members] })
  const generation = current.generation + (changed.matters ? 1 : 0)
  const next = { ...current, pools, updatedAt: now, generation }
  yield* index.measuring(next, current)
  return { current, next, at, put, added: changed.added }
}

/** Checks what depends on other objects, and claims what the change uses. @returns the document with the change */
export function withMembers(
  context: AdmissionContext,
  claim: Claim,
  { current, next, at, put, added }: PreparedMembers,
): LoadBalancer {
  if (next === current) return current
  for (const index of added) if (context.view.child(put[index]!.id) !== null) throw idTaken(index)
  const networkId = put.length === 0 ? current.networkId : checkedNetwork(context, next, at, put)
  const generation = current.generation + 1
  const made = networkId === current.networkId ? next : { ...next, networkId, generation }
  claimRoom(context, claim, current, made)
  return made
}

const idTaken = (index: number) =>
  new SpoutError('InvalidField', { field: `put[${index}].id`, reason: 'another part has this id' })

const keyOf = ({ address, port }: Endpoint): string => `${address} ${port}`

/** The indexes of these endpoints in the list, as far as it has them. */
function placesOf(members: readonly Member[], endpoints: readonly Endpoint[]): ReadonlyMap<string, number> {
  const wanted = new Set(endpoints.map(({ address }) => address))
  const places = new Map<string, number>()
  for (const [place, one] of members.entries()) if (wanted.has(one.address)) places.set(keyOf(one), place)
  return places
}

interface ChangedMembers {
  readonly members: readonly Member[]
  /** Whether the change makes a difference to nodes. */
  readonly matters: boolean
  /** Indexes of new members in the list of those that are put. */
  readonly added: readonly number[]
}

/** @returns null when nothing changes */
function* changingMembers(
  pool: Pool,
  put: readonly Member[],
  remove: MemberChange['remove'],
): Pieces<ChangedMembers | null> {
  const places = placesOf(pool.members, [...put, ...remove])
  const members: (Member | null)[] = [...pool.members]
  let [changes, matters] = [false, false]
  for (const endpoint of remove) {
    const place = places.get(keyOf(endpoint))
    if (place === undefined || members[place] === null) continue
    members[place] = null
    changes = matters = true
  }
  const taken = new Set<string>()
  const ids = new Set<string>()
  const added: number[] = []
  for (const [index, one] of put.entries()) {
    if (index > 0) yield
    const place = places.get(keyOf(one))
    const before = place === undefined ? null : members[place]!
    if (taken.has(keyOf(one)) || (before !== null && before.id !== one.id))
      throw new SpoutError('MemberTaken', { field: `put[${index}].port`, address: one.address, port: one.port })
    taken.add(keyOf(one))
    if (before === null) added.push(index)
    if (ids.has(one.id)) throw idTaken(index)
    ids.add(one.id)
    if (place !== undefined && before !== null) {
      if (sameJson(before, one)) continue
      members[place] = one
      matters ||= !sameForNodes(before, one)
    } else {
      members.push(one)
      matters = true
    }
    changes = true
  }
  const left = members.filter((one) => one !== null)
  if (left.length > MOST.members)
    throw new SpoutError('InvalidField', { field: 'put', reason: `there would be more than ${MOST.members} members` })
  return changes ? { members: left, matters, added } : null
}

/** @returns the network it is in with these members. @throws SpoutError naming the first wrong field */
function checkedNetwork(
  context: AdmissionContext,
  next: LoadBalancer,
  at: number,
  put: readonly Member[],
): string | null {
  const pool = next.pools[at]!
  const ownVips = new Set(next.vips.map((vip) => vip.address))
  const own = put.findIndex(({ address }) => ownVips.has(address))
  if (own >= 0) {
    const reason = 'it is the address of this load balancer'
    throw new SpoutError('AddressForbidden', { field: `put[${own}].address`, address: put[own]!.address, reason })
  }
  const network = next.networkId === null ? undefined : context.view.get('network', next.networkId)?.value
  if (network === undefined || network.returnPath === 'dsr') return ofWhole(context, next, at, put)
  const problem = addedMemberProblem(next, pool, put, resolveContextOf(context, next))
  if (problem === 'unclear') return ofWhole(context, next, at, put)
  if (problem !== null) throw new SpoutError(problem.code, problem.params, problem)
  return network.id
}

/** Checks the whole document, where the members alone do not decide. */
function ofWhole(context: AdmissionContext, next: LoadBalancer, at: number, put: readonly Member[]): string | null {
  try {
    return checkedNetworkId(context, next)
  } catch (error) {
    if (!(error instanceof SpoutError)) throw error
    const match = /^pools\[(\d+)\]\.members\[(\d+)\](.*)$/.exec(error.field ?? '')
    const named = match === null || Number(match[1]) !== at ? undefined : next.pools[at]?.members[Number(match[2])]
    const index = named === undefined ? -1 : put.findIndex((one) => keyOf(one) === keyOf(named))
    if (index < 0) throw error
    throw new SpoutError(error.code, { ...error.params, field: `put[${index}]${match?.[3]}` }, { cause: error })
  }
}
