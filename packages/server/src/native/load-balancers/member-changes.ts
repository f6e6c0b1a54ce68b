import type { Endpoint } from '@spout/admission/contract'
import { ipText, type LoadBalancer, type Member, member, pool, SpoutError, uuid } from '@spout/model'
import type { Pieces } from '@spout/runtime'
import { z } from 'zod'
import { problemIn, problemSchema } from '../../http/problem.ts'
import { memberDraft } from '../drafts/load-balancer-draft.ts'
import { Parts } from '../drafts/parts.ts'
import { find } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { LOAD_BALANCERS } from './load-balancers.ts'

const MOST_MEMBERS = 10_000
/** Limit of changes in one call. */
const MOST_CHANGES = 1000
/** A change with more members is made in pieces. Smaller changes of one load balancer share a commit. */
const MOST_AT_ONCE = 64

export const memberChangeDraft = z.strictObject({
  loadBalancerId: uuid,
  /** A pool of the load balancer, by id or name. */
  pool: z.string().min(1).max(255),
  /** Each replaces the member with its address and port, or is appended. */
  put: z.array(memberDraft).max(MOST_MEMBERS).default([]),
  /** Absent members are no error. */
  remove: z
    .array(z.strictObject({ address: ipText, port: member.shape.port }))
    .max(MOST_MEMBERS)
    .default([]),
})
type Change = z.output<typeof memberChangeDraft>

/** The result of one change: the new version, with the members that were put, or the error. */
const outcome = z.union([
  z.strictObject({
    loadBalancerId: uuid,
    poolId: pool.shape.id,
    generation: z.number(),
    updatedAt: z.string().nullable(),
    put: z.array(member),
  }),
  z.strictObject({ loadBalancerId: uuid, error: problemSchema }),
])
type Outcome = z.output<typeof outcome>

/**
 * Changes members of many pools in one call. The cost depends on the changes, not on the number of members. Each change
 * succeeds or fails on its own. A body that does not parse is refused as a whole.
 */
export const memberChangeRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/load-balancers/member-changes',
    tag: 'load-balancers',
    summary: 'Put and remove members of pools; the others stay as they are',
    access: 'member',
    body: z.strictObject({ changes: z.array(memberChangeDraft).min(1).max(MOST_CHANGES) }),
    takesDocument: true,
    answer: { status: 200, schema: z.strictObject({ results: z.array(outcome) }) },
    handle: async (context, call) => {
      const results = await Promise.all(call.body.changes.map((change) => made(context, call, change)))
      return { results }
    },
  }),
]

type Who = Pick<Call<unknown>, 'principal' | 'request' | 'turn'>

async function made(context: NativeContext, { principal, request, turn }: Who, change: Change): Promise<Outcome> {
  const { loadBalancerId, put } = change
  try {
    const { id } = find(LOAD_BALANCERS, context, principal, loadBalancerId)
    const now = context.clock.now().toISOString()
    const changing = function* (current: LoadBalancer) {
      const put = yield* membersOf(current, change, now)
      return { poolId: poolOf(current, change.pool).id, put, remove: change.remove }
    }
    const isLong = turn !== null && put.length + change.remove.length > MOST_AT_ONCE
    const changed = await context.loadBalancers.changeMembers(id, changing, isLong ? turn : undefined)
    const { id: poolId, members } = poolOf(changed, change.pool)
    const { generation, updatedAt } = changed
    return { loadBalancerId, poolId, generation, updatedAt, put: put.length === 0 ? [] : named(members, put) }
  } catch (error) {
    return { loadBalancerId, error: problemIn(request, error) }
  }
}

/** Members from drafts. Existing ones keep their ids and times. */
function membersOf(current: LoadBalancer, { pool: name, put }: Change, now: string): Pieces<readonly Member[]> {
  const known = put.length === 0 ? [] : named(poolOf(current, name).members, put)
  return new Parts(current, now).members(put, known, 'put')
}

function poolOf({ pools }: LoadBalancer, idOrName: string): LoadBalancer['pools'][number] {
  const found = pools.find(({ id }) => id === idOrName) ?? pools.find(({ name }) => name === idOrName)
  if (found === undefined) throw new SpoutError('NotFound', { what: 'Pool', id: idOrName })
  return found
}

/** The existing members with these endpoints or ids. */
function named(members: readonly Member[], put: readonly (Endpoint & { readonly id?: string })[]): Member[] {
  const endpoints = new Map(put.map(({ address }) => [address, new Set<number>()]))
  for (const { address, port } of put) endpoints.get(address)?.add(port)
  const ids = new Set(put.flatMap(({ id }) => id ?? []))
  const found: Member[] = []
  // There may be thousands of members, so nothing is allocated for the others.
  for (const member of members) {
    const ports = endpoints.get(member.address)
    if (ports?.has(member.port) === true || (ids.size > 0 && ids.has(member.id))) found.push(member)
  }
  return found
}
