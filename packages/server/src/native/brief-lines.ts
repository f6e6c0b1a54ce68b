import { isDeepStrictEqual } from 'node:util'
import type { LoadBalancer, LoadBalancerSummary, Member, Pool, StatusReader } from '@spout/model'
import type { Revision } from '@spout/store'

interface Told {
  readonly document: LoadBalancer
  readonly status: LoadBalancerSummary
}

/** One watch's lines about load balancers: the first about one is whole, then what changed since the last. */
export class BriefLines {
  readonly #status: Pick<StatusReader, 'summary'>
  readonly #told = new Map<string, Told>()

  constructor(status: Pick<StatusReader, 'summary'>) {
    this.#status = status
  }

  of(document: LoadBalancer, type: 'ADDED' | 'MODIFIED', revision?: Revision): object | null {
    const { id } = document
    const before = this.#told.get(id)
    const status = this.#status.summary(id)
    this.#told.set(id, { document, status })
    const at = revision === undefined ? {} : { revision }
    if (before === undefined) return { type, object: { ...document, status }, ...at }
    const changes = { ...changedFields(before.document, document), ...changedStatus(before.status, status) }
    // A change that was told of already, with one that came before its turn.
    if (Object.keys(changes).length === 0) return null
    return { type: 'CHANGED', object: { id, ...changes }, ...at }
  }

  forget(id: string): void {
    this.#told.delete(id)
  }
}

const changedStatus = (before: LoadBalancerSummary, after: LoadBalancerSummary): object =>
  isDeepStrictEqual(before, after) ? {} : { status: after }

function changedFields(before: LoadBalancer, after: LoadBalancer): object {
  if (before === after) return {}
  const changes: Record<string, unknown> = {}
  for (const field of Object.keys(after) as (keyof LoadBalancer)[])
    if (field === 'pools') {
      if (before.pools !== after.pools) changes['pools'] = after.pools.map((pool) => briefPool(before.pools, pool))
    } else if (before[field] !== after[field] && !isDeepStrictEqual(before[field], after[field]))
      changes[field] = after[field]
  return changes
}

/** A pool: by its id alone where it is as it was, with what became of its members where that says it, else whole. */
function briefPool(before: LoadBalancer['pools'], pool: Pool): object {
  const known = before.find(({ id }) => id === pool.id)
  if (known === pool) return { id: pool.id }
  const changes = known === undefined ? null : memberChanges(known.members, pool.members)
  if (changes === null) return pool
  const { members: _, ...own } = pool
  return { ...own, memberChanges: changes }
}

interface MemberChanges {
  /** Each takes the place of that with its id, or comes behind the others. */
  readonly put: readonly Member[]
  /** Ids. */
  readonly remove: readonly string[]
}

/** What makes one list of the other, in its order; null where these words do not say it. */
function memberChanges(before: readonly Member[], after: readonly Member[]): MemberChanges | null {
  const put: Member[] = []
  const remove: string[] = []
  let stays: Set<string> | null = null
  let at = 0
  for (const member of before) {
    const other = after[at]
    if (other !== undefined && other.id === member.id) {
      if (other !== member && !isDeepStrictEqual(other, member)) put.push(other)
      at++
      continue
    }
    stays ??= new Set(after.map(({ id }) => id))
    if (stays.has(member.id)) return null
    remove.push(member.id)
  }
  return { put: [...put, ...after.slice(at)], remove }
}
