import { type Attempt, SpoutError } from '@spout/model/errors'
import { type ApiProblem, problemOf } from './api-problem.ts'
import { attemptOfAnswer, attemptOfFailure, failureText, isGivenUp, mayAskAnother } from './attempt.ts'
import type { Endpoints } from './endpoints.ts'
import { reach } from './reach.ts'

/** Where the native API is, and a token. */
export interface Session {
  readonly endpoints: Endpoints
  readonly token: string
  /** How the program names itself: `name/version`. Absent: it does not. */
  readonly userAgent?: string
}

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** Of a time limit (`TimeoutError`), or of a caller that gives up. */
  readonly signal?: AbortSignal | undefined
}

/** Takes what is wanted of an answer. The connection may still break meanwhile. */
type Read<T> = (response: Response, url: string) => Promise<T> | T

/** Why a control plane gave no answer. `error` says it if there was no other to ask. */
interface Unanswered {
  readonly attempt: Attempt
  readonly reason: string
  readonly error: Error
}

type Outcome<T> = { readonly answer: T } | { readonly refusal: ApiProblem } | { readonly unanswered: Unanswered }

/**
 * Asks the control planes in turn until one answers. Another one is asked only if nothing can be done twice by that.
 * @throws ApiProblem when one refuses; SpoutError Unavailable that names each that was asked
 */
export async function ask<T>(session: Session, request: Request, read: Read<T>): Promise<T> {
  const { endpoints } = session
  const tried: (Unanswered & { readonly url: string })[] = []
  for (const url of endpoints.inTurn()) {
    const outcome = (await unreached(endpoints, url, request.signal)) ?? (await askAt(url, session, request, read))
    if ('unanswered' in outcome) {
      const { unanswered } = outcome
      if (!isGivenUp(request.signal)) endpoints.failed(url)
      tried.push({ url, ...unanswered })
      if (request.signal?.aborted === true || !mayAskAnother(request.method, unanswered.attempt)) break
    } else {
      endpoints.answered(url)
      if ('answer' in outcome) return outcome.answer
      throw outcome.refusal
    }
  }
  const last = tried.at(-1)!
  if (endpoints.urls.length === 1) throw last.error
  const each = tried.map(({ url, reason }) => `${url}: ${reason}`).join('; ')
  const note = mayAskAnother(request.method, last.attempt)
    ? ''
    : '; it may have been carried out: it was not sent again'
  throw new SpoutError('Unavailable', { what: 'The control plane', reason: `${each}${note}` })
}

/** Null when the server of this URL takes connections, or there is no other to ask. */
async function unreached(
  endpoints: Endpoints,
  url: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly unanswered: Unanswered } | null> {
  if (!endpoints.isDoubtful(url)) return null
  try {
    await reach(url, signal)
    return null
  } catch (error) {
    return { unanswered: unansweredAt(url, 'not-begun', error) }
  }
}

async function askAt<T>(
  url: string,
  { token, userAgent }: Session,
  { method, path, body, signal }: Request,
  read: Read<T>,
): Promise<Outcome<T>> {
  const init: RequestInit = {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(userAgent !== undefined && { 'user-agent': userAgent }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }
  try {
    const response = await fetch(`${url}/api/v1${path}`, init)
    if (response.ok) return { answer: await read(response, url) }
    const refusal = problemOf(response.status, await response.text())
    const attempt = attemptOfAnswer(response)
    if (attempt === null) return { refusal }
    return { unanswered: { attempt, reason: `${refusal.status}, ${refusal.message}`, error: refusal } }
  } catch (error) {
    return { unanswered: unansweredAt(url, attemptOfFailure(error), error) }
  }
}

function unansweredAt(url: string, attempt: Attempt, failure: unknown): Unanswered {
  const reason = failureText(failure)
  return { attempt, reason, error: new SpoutError('Unavailable', { what: url, reason }) }
}
