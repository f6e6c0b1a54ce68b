import type { AuditFilter } from '../api/audit-log.ts'

/** Reads a filter from the parameters of a URL, which may be anything. */
export function auditFilter(search: Readonly<Record<string, unknown>>): AuditFilter {
  const text = (name: keyof AuditFilter): string => {
    const value = search[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  return { user: text('user'), object: text('object'), project: text('project') }
}

/** The parameters of a filter, without empty ones. */
export const auditSearch = (filter: AuditFilter): Partial<AuditFilter> =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
