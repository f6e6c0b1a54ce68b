import { ApiProblem, call, type Session, watch } from '@spout/client'
import { ERRORS, type ErrorCode } from '@spout/model'

/** Who asks. `forget` says that the control plane does not know the token any more: the next one must be another. */
export interface Sessions {
  session(): Promise<Session>
  forget(): void
}

/** The control plane says no, and trying the same again does not help before something else changes. */
export class Refused extends Error {
  override readonly name = 'Refused'
  /** A code of the one error table. */
  readonly code: string
  /** The field at fault in the native API's words; null when it is about none. */
  readonly field: string | null

  constructor(code: string, message: string, field: string | null = null) {
    super(message)
    this.code = code
    this.field = field
  }
}

/** An object of the native API as far as all kinds are alike. */
export interface ApiObject {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly [field: string]: unknown
}

export interface WatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object?: { readonly id: string; readonly [field: string]: unknown }
  readonly error?: { readonly detail?: string }
}

/** The native API with an administrator's token. Throws `Refused` for what it will not do; other errors may pass. */
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

  async list(path: string): Promise<readonly ApiObject[]> {
    return (await this.call<{ items: readonly ApiObject[] }>('GET', path)).items
  }

  /** @returns null when there is none, or more than one of that name */
  async find(path: string, name: string): Promise<ApiObject | null> {
    const found = await this.list(`${path}?name=${encodeURIComponent(name)}`)
    return found.length === 1 ? (found[0] as ApiObject) : null
  }

  /** @throws Refused ReferenceNotFound */
  async idOf(path: string, what: string, name: string, field: string): Promise<string> {
    const found = await this.find(path, name)
    if (found === null) throw new Refused('ReferenceNotFound', `Field ${field}: ${what} ${name} not found`, field)
    return found.id
  }

  async *watch(path: string, signal: AbortSignal): AsyncIterable<WatchLine> {
    try {
      for await (const line of watch<WatchLine>(await this.#sessions.session(), `${path}?watch=1`, signal)) {
        if (line.type === 'ERROR') throw new Error(line.error?.detail ?? 'the watch ended')
        yield line
      }
    } catch (error) {
      throw this.#refusedOr(error)
    }
  }

  #refusedOr(error: unknown): unknown {
    if (!(error instanceof ApiProblem)) return error
    if (error.status === 401) this.#sessions.forget()
    const known = ERRORS[error.code as ErrorCode]
    if (known === undefined || known.retry === 'backoff' || known.kind === 'unauthenticated') return error
    return new Refused(error.code ?? 'Refused', error.message, error.field)
  }
}
