import { randomUUID } from 'node:crypto'
import { SpoutError, sameJson } from '@spout/model'

/** What every part of a load balancer has, and no client sets. */
export interface Stamped {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string | null
}

/**
 * A part made of its own fields. A new one gets an id and `createdAt`, a changed one `updatedAt`.
 * @param known the part before; undefined: it is new
 * @param now RFC 3339
 */
export function stamped<T extends Stamped>(known: T | undefined, own: Omit<T, keyof Stamped>, now: string): T {
  if (known === undefined) return { ...own, id: randomUUID(), createdAt: now, updatedAt: null } as T
  const { id, createdAt, updatedAt } = known
  // Unchanged parts stay the same object: only new objects are checked, stored and sent.
  if (sameJson(known, { ...own, id, createdAt, updatedAt })) return known
  return { ...own, id, createdAt, updatedAt: now } as T
}

/**
 * The part that a draft means: the one with its id. If the draft has no id, the one that `same` finds.
 * @param what the kind, for people
 * @returns undefined for a new one
 * @throws SpoutError ReferenceNotFound for an id that no part has
 */
export function partOf<T extends { readonly id: string }>(
  current: readonly T[],
  id: string | undefined,
  same: (known: T) => boolean,
  field: string,
  what: string,
): T | undefined {
  if (id === undefined) return current.find(same)
  const known = current.find((one) => one.id === id)
  if (known === undefined) throw unknownPart(field, what, id)
  return known
}

export const unknownPart = (field: string, what: string, id: string): SpoutError =>
  new SpoutError('ReferenceNotFound', { field, what, id })
