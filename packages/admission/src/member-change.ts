import { isDeepStrictEqual } from 'node:util'
import { type LoadBalancer, type Member, member, type Pool, parseAs, SpoutError } from '@spout/model'
import { addedMemberProblem } from '@spout/plan'
import type { Claim } from './claims.ts'
import type { AdmissionContext } from './context.ts'
import type { Endpoint, MemberChange } from './contract/load-balancer-admission.ts'
import { checkedNetworkId, resolveContextOf } from './load-balancer-check.ts'
import { MOST } from './load-balancer-draft.ts'
import { claimRoom } from './load-balancer-room.ts'
import { sameForNodes } from './same-for-nodes.ts'

/**
 * The document with a change to a pool's members. Only the changed members are checked: the others were checked before.
 * @returns the document itself when nothing changes
 * @throws SpoutError NotFound for an unknown pool; fields are paths in the change, such as `put[0].address`
 */
export function withMembers(
  context: AdmissionContext,
  claim: Claim,
  current: LoadBalancer,
  change: MemberChange,
  now: string,
): LoadBalancer {
  const at = current.pools.findIndex(({ id }) => id === change.poolId)
  const pool = current.pools[at]
  if (pool === undefined) throw new SpoutError('NotFound', { what: 'Pool', id: change.poolId })
  const put = change.put.map((one, index) => parseAs(member, one, `put[${index}]`))
  const changed = changedMembers(context, pool, put, change.remove)
  if (changed === null) return current
  const pools = current.pools.with(at, { ...pool, members: [...changed.members] })
  const next = { ...current, pools, updatedAt: now }
  const networkId = put.length === 0 ? current.networkId : checkedNetwork(context, next, at, put)
  claimRoom(context, claim, current, next)
  const matters = changed.matters || networkId !== current.networkId
  return { ...next, networkId, generation: current.generation + (matters ? 1 : 0) }
}

const keyOf = ({ address, port }: Endpoint): string => `${address} ${port}`

/** The indexes of these endpoints in the list, as far as it has them. */
function placesOf(members: readonly Member[], endpoints: readonly Endpoint[]): ReadonlyMap<string, number> {
  const wanted = new Set(endpoints.map(({ address }) => address))
  const places = new Map<string, number>()
  for (const [place, one] of members.entries()) if (wanted.has(one.address)) places.set(keyOf(one), place)
  return places
}

/** `matters`: the change makes a difference to nodes. Null when nothing changes. */
function changedMembers(
  { view }: AdmissionContext,
  pool: Pool,
  put: readonly Member[],
  remove: MemberChange['remove'],
): { readonly members: readonly Member[]; readonly matters: boolean } | null {
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
  for (const [index, one] of put.entries()) {
    const place = places.get(keyOf(one))
    const before = place === undefined ? null : members[place]!
    if (taken.has(keyOf(one)) || (before !== null && before.id !== one.id))
      throw new SpoutError('MemberTaken', { field: `put[${index}].port`, address: one.address, port: one.port })
    taken.add(keyOf(one))
    const known = before === null ? view.child(one.id) : null
    if (known !== null || ids.has(one.id))
      throw new SpoutError('InvalidField', { field: `put[${index}].id`, reason: 'another part has this id' })
    ids.add(one.id)
    if (place !== undefined && before !== null) {
      if (isDeepStrictEqual(before, one)) continue
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
  return changes ? { members: left, matters } : null
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
  if (problem !== null) throw new SpoutError(problem.code, problem.params)
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
