/** SQLite's primary result codes (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5
const SQLITE_FULL = 13

const resultCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null

/** Whether another connection has the file. */
export const isBusy = (error: unknown): boolean => resultCode(error) === SQLITE_BUSY
/** Whether a smaller transaction might have fitted. */
export const isDiskFull = (error: unknown): boolean => ((resultCode(error) ?? 0) & 0xff) === SQLITE_FULL
/** Why SQLite refused, for people. */
export const reasonOf = (error: unknown): string => {
  const code = resultCode(error)
  const text = error instanceof Error ? error.message : String(error)
  return code === null ? text : `${text} (SQLite result ${code})`
}
