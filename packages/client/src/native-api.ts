import type { Edit } from '@spout/model/edits'
import { ERRORS, type ErrorCode } from '@spout/model/errors'
import { ApiProblem, call, type Session, watch } from './api.ts'

/** Who asks, for as long as a program runs: tokens end. `forget` says that the control plane does not know the token any more. */
export interface Sessions {
  session(): Promise<Session>
  forget(): void
}

/** The control plane says no, and trying the same again does not help before something else changes. */
export class Refused extends Error {
  override readonly name = 'Refused'
  /** A code of the one error table. */
  readonly code: string
  /** The field at fault in the native API's words, such as `pools[0].members[1].address`; null when it is about none. */
  readonly field: string | null

  constructor(code: string, message: string, field: string | null = null) {
    super(message)
    this.code = code
    this.field = field
  }
}

/** One line of a watch; `Shown` is the object as its collection shows it, of which `DELETED` has the id alone. */
export type WatchLine<Shown> =
  | { readonly type: 'ADDED' | 'MODIFIED'; readonly object: Shown }
  | { readonly type: 'DELETED'; readonly object: { readonly id: string } }
  | { readonly type: 'BOOKMARK' }

/** A brief watch's line of an object that it told before: what makes it of the one told last. */
export interface ChangedLine {
  readonly type: 'CHANGED'
  readonly object: { readonly id: string }
  readonly edits: readonly Edit[]
}

type ErrorLine = { readonly type: 'ERROR'; readonly error?: { readonly detail?: string } }

/**
 * The native API for a program that goes on asking. Throws `Refused` for what the control plane will not do, and other
 * errors for what may work later; a token that ended is such a one, as the next call gets another.
 */
export class NativeApi {
  readonly #sessions: Sessions

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    try {
      return await call<T>(await this.#sessions.session(), method, path, body)
    } catch (error) {
      throw this.#refusedOr(error)
    }
  }

  /** First everything there is, then a bookmark, then changes; until `signal` aborts or the server ends it. */
  async *watch<Shown, More extends ChangedLine = never>(
    path: string,
    signal: AbortSignal,
    query: Readonly<Record<string, string>> = {},
  ): AsyncIterable<WatchLine<Shown> | More> {
    try {
      const session = await this.#sessions.session()
      const asked = `${path}?${new URLSearchParams({ watch: '1', ...query })}`
      for await (const line of watch<WatchLine<Shown> | More | ErrorLine>(session, asked, signal)) {
        if (line.type === 'ERROR') throw new Error(line.error?.detail ?? 'the watch ended')
        yield line
      }
    } catch (error) {
      throw this.#refusedOr(error)
    }
  }

  #refusedOr(error: unknown): unknown {
    if (error instanceof ApiProblem && error.status === 401) this.#sessions.forget()
    return refusedOr(error)
  }
}

/** A problem that is a refusal as `Refused`; anything else as it is. */
export function refusedOr(error: unknown): unknown {
  if (!(error instanceof ApiProblem)) return error
  const known = ERRORS[error.code as ErrorCode]
  if (known === undefined || known.retry === 'backoff' || known.kind === 'unauthenticated') return error
  return new Refused(error.code ?? 'Refused', error.message, error.field)
}

/** A problem document, as it stands in the answer to a call for many things. */
export interface ProblemBody {
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly field?: string
}

export const problemFrom = ({ status, detail, code, field }: ProblemBody): ApiProblem =>
  new ApiProblem(status, detail, code, field ?? null)
