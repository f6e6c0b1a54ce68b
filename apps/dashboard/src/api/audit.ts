import type { AuditRecord } from '@spout/model'
import { ask } from './ask.ts'

export interface AuditPage {
  readonly items: readonly AuditRecord[]
  /** For the next page; null at the end. A page may be empty and have one. */
  readonly next: string | null
}

/** What was done to an object and its parts, newest first. */
export const listChanges = (objectId: string, before: string | null, signal: AbortSignal): Promise<AuditPage> =>
  ask('GET', `/audit?${new URLSearchParams({ object: objectId, limit: '50', ...(before !== null && { before }) })}`, {
    signal,
  })
