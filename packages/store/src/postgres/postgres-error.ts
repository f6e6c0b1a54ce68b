import pg from 'pg'

/** Classes of SQLSTATE after which the server ends the session, or has not begun one (postgresql.org/docs/15/errcodes-appendix.html). */
const ENDS_SESSION = new Set(['08', '57', '58', 'XX'])
/** A standby answers writes with this. */
const READ_ONLY = '25006'
/** Insufficient resources: disk full, out of memory, too many connections. */
const RESOURCES = '53'

export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message || error.name : String(error)
}

const codeOf = (error: unknown): string | null => (error instanceof pg.DatabaseError ? (error.code ?? null) : null)

/** Whether the server answered, has undone the transaction, and the session goes on. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.severity === 'ERROR' && !ENDS_SESSION.has((error.code ?? '').slice(0, 2))

/** Whether the server takes no writes, because it is a standby. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === READ_ONLY

/** Whether what was asked is too much for the server as it is now. Less may succeed. */
export const isOutOfResources = (error: unknown): boolean => (codeOf(error) ?? '').startsWith(RESOURCES)
