import type { Revision } from './store.ts'

/**
 * A revision names the store and a place in its log, so that one from another store (or from a file since replaced) is
 * recognised as unknown instead of being taken for a place here.
 */
export const formatRevision = (storeId: string, sequence: number): Revision => `${storeId}-${sequence}` as Revision

/** The place in this store's log, or null for a revision it never gave out. */
export function parseRevision(storeId: string, revision: Revision): number | null {
  const [, id, digits] = /^([0-9a-f]+)-(0|[1-9]\d{0,15})$/.exec(revision) ?? []
  return id === storeId && digits !== undefined ? Number(digits) : null
}
