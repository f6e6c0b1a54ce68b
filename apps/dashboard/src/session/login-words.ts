import { Problem } from '../api/problem.ts'
import type { TypedLogin } from './page-session.ts'

/** What is missing in a login, as a sentence; null: nothing. */
export function missingIn(login: TypedLogin): string | null {
  const fields =
    'userName' in login
      ? ([
          ['your user', login.userName],
          ['your password', login.password],
        ] as const)
      : ([
          ['the id', login.applicationCredentialId],
          ['the secret', login.secret],
        ] as const)
  const missing = fields.filter(([, text]) => text === '').map(([what]) => what)
  return missing.length === 0 ? null : `Type ${missing.join(' and ')}.`
}

/** Why a login was refused: the server's text names all that it may be, also what nobody typed. */
export function refusalOf(error: Error, login: TypedLogin): Error {
  if (!(error instanceof Problem) || error.code !== 'Unauthenticated') return error
  const text =
    'userName' in login
      ? `The user or the password is wrong${login.projectId === undefined ? '' : ', or the user has no role in this project any more'}.`
      : 'The id or the secret is wrong, or the credential has expired.'
  return new Problem(error.status, text, error.code)
}
