import { ApiProblem, call, type Session } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import { printable } from './output/width.ts'

/**
 * What is said of an error that is not the program's own fault; null for others. The word at the end is the error's code:
 * what scripts look for, and a heading of the reference.
 */
export function errorText(error: unknown): string | null {
  if (!(error instanceof ApiProblem || error instanceof SpoutError)) return null
  return printable(error.code === null ? error.message : `${error.message} (${error.code})`)
}

interface Identity {
  readonly userName: string
  readonly projectName: string | null
}

/** Who was refused, for people; null when it was something else that went wrong, or when nobody can tell. */
export async function whoWasRefused(error: unknown, session: () => Session): Promise<string | null> {
  if (!(error instanceof ApiProblem) || error.code !== 'Forbidden') return null
  const identity = await call<Identity>(session(), 'GET', '/tokens/current').catch(() => null)
  if (identity === null) return null
  const { userName, projectName } = identity
  const where = projectName === null ? 'for no project' : `in project ${projectName}`
  return printable(`SPOUT_TOKEN is a token of ${userName} ${where}`)
}
