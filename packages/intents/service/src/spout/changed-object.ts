import type { LoadBalancer, Member, Pool } from '@spout/model'

/** A pool that is as it was, one whose members changed, or a whole one. */
type ChangedPool = Pick<Pool, 'id'> | (Omit<Pool, 'members'> & { readonly memberChanges: MemberChanges }) | Pool

interface MemberChanges {
  /** Each takes the place of that with its id, or comes behind the others. */
  readonly put: readonly Member[]
  /** Ids. */
  readonly remove: readonly string[]
}

/** What a brief watch tells of a load balancer that it told before: the fields that changed. */
export type ChangedObject = Partial<Omit<LoadBalancer, 'pools' | 'id'>> & {
  readonly id: string
  readonly pools?: readonly ChangedPool[]
}

/** The document after the change. What did not change is the very same in both. @throws Error for a pool that was never told */
export function changedObject(before: LoadBalancer, { pools, ...fields }: ChangedObject): LoadBalancer {
  if (pools === undefined && Object.keys(fields).length === 1) return before
  const after = { ...before, ...fields }
  return pools === undefined ? after : { ...after, pools: pools.map((pool) => changedPool(before.pools, pool)) }
}

function changedPool(before: readonly Pool[], change: ChangedPool): Pool {
  if ('members' in change) return change
  const known = before.find(({ id }) => id === change.id)
  if (known === undefined) throw new Error(`pool ${change.id} was never told`)
  if (!('memberChanges' in change)) return known
  const { memberChanges, ...own } = change
  return { ...own, members: [...changedMembers(known.members, memberChanges)] }
}

export function changedMembers(before: readonly Member[], { put, remove }: MemberChanges): readonly Member[] {
  const gone = new Set(remove)
  const fresh = new Map(put.map((member) => [member.id, member]))
  const members: Member[] = []
  for (const member of before) {
    if (gone.has(member.id)) continue
    members.push(fresh.get(member.id) ?? member)
    fresh.delete(member.id)
  }
  members.push(...fresh.values())
  return members
}
