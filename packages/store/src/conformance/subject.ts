import { SpoutError } from '@spout/model'
import type { FakeClock } from '@spout/runtime/fake-clock'
import type { Change, Revision, Store, Stored, Write } from '../store.ts'

/** An empty store under test, and how to dispose of it. */
export interface StoreFixture {
  readonly store: Store
  /** Closes the store and opens its data again; absent when nothing outlives it. */
  readonly reopen?: () => Promise<Store>
  readonly dispose: () => Promise<void>
  /** Leases outlive it, since other processes may use the store. */
  readonly keepsLeases?: boolean
}

export interface StoreSettings {
  /** How often a quiet watch must send a bookmark. */
  readonly bookmarkIntervalMs: number
  /** The time of leases. */
  readonly clock: FakeClock
}

/** The store of one test, with helpers. */
export interface Subject {
  readonly store: Store
  readonly keepsLeases: boolean
  /** Ends the watches of this test. */
  readonly ending: AbortController
  /** The time of leases. */
  readonly clock: FakeClock
  watch(from: Revision, kinds?: readonly string[], scope?: string): AsyncIterator<Change>
  /** Describes every change in the log after `from`. */
  changesSince(from: Revision): Promise<string[]>
  /** Returns an object that must exist. */
  seen(id: string): Promise<Stored>
  /** The same store after closing it; null when nothing outlives it. */
  reopen(): Promise<Subject | null>
}

export function subjectOf(
  fixture: StoreFixture,
  store: Store,
  around: { readonly ending: AbortController; readonly clock: FakeClock },
): Subject {
  const { ending } = around
  const watch = (from: Revision, kinds?: readonly string[], scope?: string) =>
    store.watch({ from, kinds, scope, signal: ending.signal })[Symbol.asyncIterator]()
  return {
    store,
    keepsLeases: fixture.keepsLeases ?? false,
    ...around,
    watch,
    changesSince: async (from) => (await untilBookmark(watch(from))).map(describeChange),
    seen: async (id) => {
      const object = await store.get('node', id)
      if (object === null) throw new Error(`${id} is not stored`)
      return object
    },
    reopen: async () => (fixture.reopen === undefined ? null : subjectOf(fixture, await fixture.reopen(), around)),
  }
}

export const put = (id: string, value: unknown = { id }, rest: Partial<Extract<Write, { op: 'put' }>> = {}): Write => ({
  op: 'put',
  kind: 'node',
  id,
  scope: null,
  value,
  ...rest,
})
export const remove = (id: string, ifRevision?: Revision): Write => ({ op: 'delete', kind: 'node', id, ifRevision })

/** The code of the error that the promise rejects with, or `accepted`. */
export const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'accepted',
    (error: unknown) => (error instanceof SpoutError ? error.code : String(error)),
  )

export const describeWrite = ({ op, id }: Write): string => (op === 'put' ? `+${id}` : `-${id}`)
export const describeChange = (change: Change | undefined): string =>
  change?.type === 'put' ? `+${change.object.id}` : change?.type === 'delete' ? `-${change.ref.id}` : 'none'
export const isBookmark = (change: Change): boolean => change.type === 'bookmark'
export const revisionOf = (change: Change): Revision =>
  change.type === 'put' ? change.object.revision : change.revision

export async function next(watching: AsyncIterator<Change>): Promise<Change> {
  const { done, value } = await watching.next()
  if (done) throw new Error('the watch ended')
  return value
}

/** Describes the next change that is not a bookmark. */
export async function nextChange(watching: AsyncIterator<Change>): Promise<string> {
  let change = await next(watching)
  while (isBookmark(change)) change = await next(watching)
  return describeChange(change)
}

/** The changes before the first bookmark. */
export async function untilBookmark(watching: AsyncIterator<Change>): Promise<Change[]> {
  const changes: Change[] = []
  for (let change = await next(watching); !isBookmark(change); change = await next(watching)) changes.push(change)
  return changes
}

/** Reads until the watch ends. */
export async function drain(watching: AsyncIterator<Change>): Promise<void> {
  while (!(await watching.next()).done);
}
