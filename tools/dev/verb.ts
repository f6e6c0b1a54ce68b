import path from 'node:path'

/** One verb of the workbench. */
export interface Verb {
  readonly name: string
  /** Arguments, for the usage line. */
  readonly usage: string
  readonly summary: string
  /** Further help text. */
  readonly details?: string
  /** @returns the exit code */
  run(args: readonly string[]): Promise<number>
}

/** The checkout's root. */
export const ROOT = path.resolve(import.meta.dirname, '../..')

/** A verb was called wrongly: printed without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
