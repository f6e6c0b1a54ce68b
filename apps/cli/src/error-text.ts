import { ApiProblem, call, type Session } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import { printable } from '@spout/runtime/printable'

/**
 * The message for an error that is not a bug; null for others. It ends in the error's code, which scripts look for, and
 * which is a heading of the reference.
 */
export function errorText(error: unknown): string | null {
  if (!(error instanceof ApiProblem || error instanceof SpoutError)) return null
  return printable(error.code === null ? error.message : `${error.message} (${error.code})`)
}

interface Identity {
  readonly userName: string
  readonly projectName: string | null
}

/** Whose token was refused, for people; null for other errors, or when that is unknown. */
export async function whoWasRefused(error: unknown, session: () => Session): Promise<string | null> {
  if (!(error instanceof ApiProblem) || error.code !== 'Forbidden') return null
  const identity = await call<Identity>(session(), 'GET', '/tokens/current').catch(() => null)
  if (identity === null) return null
  const { userName, projectName } = identity
  const where = projectName === null ? 'for no project' : `in project ${projectName}`
  return printable(`SPOUT_TOKEN is a token of ${userName} ${where}`)
}
