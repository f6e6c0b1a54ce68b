import { randomUUID } from 'node:crypto'
import { type Kind, type QuotaResource, SpoutError } from '@spout/model'
import { randomSecret } from '@spout/runtime/random-secret'
import type { Store, Write } from '@spout/store'
import type { AdmissionIndex } from './admission-index.ts'
import type { Claim, Claims } from './claims.ts'
import type { ModelView, ObjectOf, Versioned } from './contract/view.ts'
import type { DenyList } from './deny-list.ts'

/** Where ids and secrets come from. */
export interface RandomSource {
  uuid(): string
  /** Of 32 random bytes, in text that is safe in URLs and on command lines, without dots. */
  secret(): string
}

export const systemRandom: RandomSource = {
  uuid: () => randomUUID(),
  secret: () => randomSecret(32),
}

/** What every part of admission works with. */
export interface AdmissionContext {
  readonly store: Store
  readonly view: ModelView
  readonly index: AdmissionIndex
  readonly claims: Claims
  readonly deny: DenyList
  readonly random: RandomSource
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly defaultQuota: Readonly<Record<QuotaResource, number>>
}

export interface Planned<T> {
  readonly writes: readonly Write[]
  readonly result: T
}

/** How often a write that collided with another process's is planned anew. */
const MOST_ATTEMPTS = 10

/**
 * Plans a change on what the view shows and commits it. When it collides (another writer took the address or changed
 * the object), it is planned again on the newer state.
 *
 * @param plan checks everything, claims what it takes and returns the writes; it runs without a pause and may run again
 * @returns once the view shows the change
 */
export async function transact<T>(context: AdmissionContext, plan: (claim: Claim) => Planned<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const claim = context.claims.open()
    try {
      const { writes, result } = plan(claim)
      if (writes.length === 0) return result
      const collision = await commit(context, writes)
      if (collision === null) return result
      if (attempt === MOST_ATTEMPTS) throw collision
    } finally {
      claim.release()
    }
    await context.view.caughtUp(await context.store.revision())
  }
}

/** @returns the error when the writes collided with somebody else's */
async function commit({ store, view }: AdmissionContext, writes: readonly Write[]): Promise<SpoutError | null> {
  try {
    const { revision } = await store.commit(writes)
    await view.caughtUp(revision)
    return null
  } catch (error) {
    const collided =
      error instanceof SpoutError && ['RevisionConflict', 'AlreadyExists', 'NotFound'].includes(error.code)
    if (collided) return error
    throw error
  }
}

/** @throws SpoutError NotFound */
export function find<K extends Kind>(
  context: AdmissionContext,
  kind: K,
  id: string,
  what: string,
): Versioned<ObjectOf<K>> {
  const found = context.view.get(kind, id)
  if (found === null) throw new SpoutError('NotFound', { what, id })
  return found
}

export const timestampOf = (ms: number): string => new Date(ms).toISOString()

/** Identity and time for a new object. */
export const newMeta = (context: AdmissionContext, text: { readonly name: string; readonly description: string }) => ({
  id: context.random.uuid(),
  name: text.name,
  description: text.description,
  createdAt: timestampOf(context.now()),
  updatedAt: null,
})

type Scoped = { readonly id: string; readonly projectId?: string | null }

/** Writes a new object: somebody else's of that id makes it collide. */
export const putNew = (kind: Kind, value: Scoped): Write => ({
  op: 'put',
  kind,
  id: value.id,
  scope: value.projectId ?? null,
  value,
  ifRevision: 'absent',
})

/** Replaces an object as it was read. */
export const putOver = <T extends Scoped>(kind: Kind, before: Versioned<T>, value: T): Write => ({
  op: 'put',
  kind,
  id: value.id,
  scope: value.projectId ?? null,
  value,
  ifRevision: before.revision,
  over: before.value,
})

/** Deletes an object as it was read. */
export const deleteOf = (kind: Kind, before: Versioned<Scoped>): Write => ({
  op: 'delete',
  kind,
  id: before.value.id,
  ifRevision: before.revision,
})
