import { randomUUID } from 'node:crypto'
import { type Kind, type QuotaResource, SpoutError } from '@spout/model'
import type { Cidr } from '@spout/net'
import type { OneARound } from '@spout/runtime'
import { randomSecret } from '@spout/runtime/random-secret'
import type { SealingKeys } from '@spout/runtime/sealing-keys'
import type { CommitOptions, Revision, Store, Write } from '@spout/store'
import type { Turn } from '../contract/load-balancer-admission.ts'
import type { Placing } from '../contract/placing.ts'
import type { ModelView, ObjectOf, Versioned } from '../contract/view.ts'
import type { AdmissionIndex } from '../indexes/admission-index.ts'
import type { BusyWriters } from './busy-writers.ts'
import type { Claim, Claims } from './claims.ts'
import type { DenyList } from './deny-list.ts'
import type { HostRule } from './host-rule.ts'

/** Source of ids and secrets. */
export interface RandomSource {
  uuid(): string
  /** 32 random bytes, as text that is safe in URLs and on command lines, without dots. */
  secret(): string
}

export const systemRandom: RandomSource = {
  uuid: () => randomUUID(),
  secret: () => randomSecret(32),
}

/** What all parts of admission share. */
export interface AdmissionContext {
  readonly store: Store
  readonly view: ModelView
  readonly index: AdmissionIndex
  readonly claims: Claims
  readonly deny: DenyList
  /** Where nodes may have their own addresses; empty: anywhere. */
  readonly fabric: readonly Cidr[]
  /**
   * The networks, subnets and certificates that a load balancer may name: those of its project; or any, where no node
   * ever carries it.
   */
  readonly references: 'known' | 'any'
  /** The hosts that routes may name. */
  readonly hosts: HostRule
  /** Seals private keys; null: none can be stored. */
  readonly sealing: SealingKeys | null
  readonly random: RandomSource
  /** Places new load balancers. Null: they are placed once they are stored. */
  readonly placing: () => Placing | null
  /**
   * Spreads the answers to a project's writes over rounds of the event loop: to render one takes as long as a request.
   */
  readonly answers: OneARound
  /** For a dry run: gets the writes that would be committed. Absent: they are. */
  readonly insteadOfCommit?: (writes: readonly Write[]) => void
  /** Decides whose commits leave the disk to others. */
  readonly writers: BusyWriters
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly defaultQuota: Readonly<Record<QuotaResource, number>>
}

export interface Planned<T> {
  readonly writes: readonly Write[]
  readonly result: T
  /** Called once the commit is over. @param revision null: it stored nothing */
  readonly settle?: ((revision: Revision | null) => void) | undefined
}

/** How often a write that conflicted with another process's is planned again. */
const MOST_ATTEMPTS = 10

/**
 * Plans a change on the state of the view and commits it. If it conflicts (another writer took the address or changed
 * the object), it is planned again on the newer state.
 *
 * @param plan checks everything, claims what it takes and returns the writes; it is synchronous and may run several
 * times
 * @param turn as for `planAndCommit`
 * @returns when the view shows the change, in a turn of its project
 */
export async function transact<T>(
  context: AdmissionContext,
  plan: (claim: Claim) => Planned<T>,
  turn?: Turn,
): Promise<T> {
  const begun: (() => void)[] = []
  const counted = (claim: Claim): Planned<T> => {
    const planned = plan(claim)
    // A change that is planned again counts once.
    if (begun.length === 0) begun.push(context.writers.begin(projectOf(planned.writes)))
    return planned
  }
  try {
    const { writes, result } = await planAndCommit(context, counted, { turn })
    if (writes.length > 0) await context.answers.turn(projectOf(writes))
    return result
  } finally {
    for (const end of begun) end()
  }
}

/** The project of the first object that has one; empty for none. */
const projectOf = (writes: readonly Write[]): string =>
  writes.map((write) => (write.op === 'put' ? write.scope : null)).find((scope) => scope !== null) ?? ''

/**
 * Like `transact`, but for code that orders its answers and counts its changes (`writers`) itself.
 * @param turn of a plan with long writes: they are encoded in pieces. Its claims are kept meanwhile
 * @param projectId whose change it is; left out, the project of what it writes
 */
export async function planAndCommit<T>(
  context: AdmissionContext,
  plan: (claim: Claim) => Planned<T>,
  { turn, projectId }: { readonly turn?: Turn | undefined; readonly projectId?: string } = {},
): Promise<Planned<T>> {
  for (let attempt = 1; ; attempt++) {
    const claim = context.claims.open()
    try {
      const planned = plan(claim)
      if (planned.writes.length === 0) return planned
      if (context.insteadOfCommit !== undefined) {
        context.insteadOfCommit(planned.writes)
        return planned
      }
      const yields = context.writers.yields(projectId ?? projectOf(planned.writes))
      const collision = await commit(context, planned, { yields, ...(turn && { turn }) })
      if (collision === null) return planned
      if (attempt === MOST_ATTEMPTS) throw collision
    } finally {
      claim.release()
    }
    await context.view.caughtUp(await context.store.revision())
  }
}

/** @returns the error if the writes conflicted with another writer's */
async function commit(
  { store, view }: AdmissionContext,
  planned: Planned<unknown>,
  options: CommitOptions,
): Promise<SpoutError | null> {
  try {
    await view.caughtUp(await storeAll(store, planned, options))
    return null
  } catch (error) {
    const collided =
      error instanceof SpoutError && ['RevisionConflict', 'AlreadyExists', 'NotFound'].includes(error.code)
    if (collided) return error
    throw error
  }
}

async function storeAll(store: Store, { writes, settle }: Planned<unknown>, options: CommitOptions): Promise<Revision> {
  let stored: Revision | null = null
  try {
    await options.turn?.()
    stored = (await store.commit(writes, options)).revision
    return stored
  } finally {
    settle?.(stored)
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

/** Id and time of creation for a new object. */
export const newMeta = (context: AdmissionContext, text: { readonly name: string; readonly description: string }) => ({
  id: context.random.uuid(),
  name: text.name,
  description: text.description,
  createdAt: timestampOf(context.now()),
  updatedAt: null,
})

/**
 * As `newMeta`, with the id that an administrator chose.
 * @param what for the message
 * @throws SpoutError AlreadyExists for an id that is taken
 */
export function chosenMeta(
  context: AdmissionContext,
  kind: Kind,
  what: string,
  { id, ...text }: { readonly id?: string | undefined; readonly name: string; readonly description: string },
) {
  if (id !== undefined && context.view.get(kind, id) !== null) throw new SpoutError('AlreadyExists', { what, id })
  const meta = newMeta(context, text)
  return { ...meta, id: id ?? meta.id }
}

type Scoped = { readonly id: string; readonly projectId?: string | null }

/**
 * Writes a new object, which the store takes over. It conflicts if there is one with that id.
 * @param scope its project
 */
export const putNew = (kind: Kind, value: Scoped, scope = value.projectId ?? null): Write => ({
  op: 'put',
  kind,
  id: value.id,
  scope,
  value,
  ifRevision: 'absent',
  over: null,
})

/** Replaces an object at the revision that was read. */
export const putOver = <T extends Scoped>(kind: Kind, before: Versioned<T>, value: T): Write => ({
  op: 'put',
  kind,
  id: value.id,
  scope: value.projectId ?? null,
  value,
  ifRevision: before.revision,
  over: before.value,
})

/** Deletes an object at the revision that was read. */
export const deleteOf = (kind: Kind, before: Versioned<Scoped>): Write => ({
  op: 'delete',
  kind,
  id: before.value.id,
  ifRevision: before.revision,
})
