import type { Revision } from './store.ts'

/**
 * A revision names the store and a place in its log. So a revision of another store, or of a file that was replaced
 * since, is recognised as unknown.
 */
export const formatRevision = (storeId: string, sequence: number): Revision => `${storeId}-${sequence}` as Revision

/** The place in this store's log; null for a revision that it never issued. */
export function parseRevision(storeId: string, revision: Revision): number | null {
  const [, id, digits] = /^([0-9a-f]+)-(0|[1-9]\d{0,15})$/.exec(revision) ?? []
  return id === storeId && digits !== undefined ? Number(digits) : null
}
