import { ask } from './ask.ts'
import type { AuditPage } from './audit.ts'

/** Which records of the audit log to show; empty fields: all. */
export interface AuditFilter {
  /** Id or name. */
  readonly user: string
  /** Id of an object, or of a part of one. */
  readonly object: string
  /** Id. */
  readonly project: string
}

/** The audit log, newest first: what was done, by whom, with which result. @param before `next` of the page before */
export function readAuditLog(filter: AuditFilter, before: string, signal: AbortSignal): Promise<AuditPage> {
  const query = new URLSearchParams({ limit: '100' })
  for (const [name, value] of Object.entries({ ...filter, before })) if (value !== '') query.set(name, value)
  return ask('GET', `/audit?${query}`, { signal })
}
