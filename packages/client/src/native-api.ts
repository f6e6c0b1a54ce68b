import type { Edit } from '@spout/model/edits'
import { ERRORS, type ErrorCode } from '@spout/model/errors'
import { ApiProblem, call, type Session, watch } from './api.ts'
import { LONGEST_SILENCE_MS } from './silence.ts'

/**
 * Gives a long-running program a valid token. Call `forget` when the control plane rejects the token: the next call
 * gets a new one.
 */
export interface Sessions {
  session(): Promise<Session>
  forget(): void
}

/** The control plane refused the request, and repeating it does not help until something else changes. */
export class Refused extends Error {
  override readonly name = 'Refused'
  /** An error code of the model's error table. */
  readonly code: string
  /**
   * The field that is wrong, as a path of the native API such as `pools[0].members[1].address`; null when there is
   * none.
   */
  readonly field: string | null
  /** All fields that are wrong in the same way: at least `field`, if there is one. */
  readonly fields: readonly string[]

  constructor(code: string, message: string, field: string | null = null, fields: readonly string[] = []) {
    super(message)
    this.code = code
    this.field = field
    this.fields = fields.length > 0 || field === null ? fields : [field]
  }
}

/** One line of a watch. `Shown` is the object as its collection shows it; `DELETED` has its id alone. */
export type WatchLine<Shown> =
  | { readonly type: 'ADDED' | 'MODIFIED'; readonly object: Shown }
  | { readonly type: 'DELETED'; readonly object: { readonly id: string } }
  | { readonly type: 'BOOKMARK' }

/** In a brief watch: the difference between an object and the version of it that this watch sent last. */
export interface ChangedLine {
  readonly type: 'CHANGED'
  readonly object: { readonly id: string }
  readonly edits: readonly Edit[]
}

/**
 * A call without an answer for this long is given up, and tried again on another connection. After a cut the kernel may
 * repeat its bytes only two minutes after the network is back. Long polls wait for 30 s at most.
 */
const LONGEST_CALL_MS = 60_000

type ErrorLine = { readonly type: 'ERROR'; readonly error?: { readonly detail?: string } }

/**
 * The native API for long-running programs. Throws `Refused` when the control plane refuses, and other errors for what
 * may work later. An expired token is of the second kind: the next call gets a new one.
 */
export class NativeApi {
  readonly #sessions: Sessions
  readonly #longestCallMs: number
  readonly #longestSilenceMs: number

  constructor(sessions: Sessions, longestCallMs = LONGEST_CALL_MS, longestSilenceMs = LONGEST_SILENCE_MS) {
    this.#sessions = sessions
    this.#longestCallMs = longestCallMs
    this.#longestSilenceMs = longestSilenceMs
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    try {
      const session = await this.#sessions.session()
      return await call<T>(session, method, path, body, AbortSignal.timeout(this.#longestCallMs))
    } catch (error) {
      throw this.#refusedOr(error)
    }
  }

  /** Sends every object first, then a bookmark, then changes, until `signal` aborts or the server ends it. */
  async *watch<Shown, More extends ChangedLine = never>(
    path: string,
    signal: AbortSignal,
    query: Readonly<Record<string, string>> = {},
  ): AsyncIterable<WatchLine<Shown> | More> {
    try {
      const session = await this.#sessions.session()
      const asked = `${path}?${new URLSearchParams({ watch: '1', ...query })}`
      const lines = watch<WatchLine<Shown> | More | ErrorLine>(session, asked, signal, this.#longestSilenceMs)
      for await (const line of lines) {
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

/** Turns a problem that is a refusal into `Refused`. Returns anything else as it is. */
export function refusedOr(error: unknown): unknown {
  if (!(error instanceof ApiProblem)) return error
  const known = ERRORS[error.code as ErrorCode]
  if (known === undefined || known.retry === 'backoff' || known.kind === 'unauthenticated') return error
  return new Refused(error.code ?? 'Refused', error.message, error.field, error.fields)
}

/** A problem document, as part of the answer to a call about several objects. */
export interface ProblemBody {
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly field?: string
  readonly fields?: readonly string[]
}

export const problemFrom = ({ status, detail, code, field, fields }: ProblemBody): ApiProblem =>
  new ApiProblem(status, detail, code, field ?? null, fields)
