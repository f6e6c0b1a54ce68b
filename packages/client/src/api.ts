import { SpoutError } from '@spout/model/errors'
import { LineSplitter } from '@spout/runtime/ndjson'

/** The base URL of the native API, and a token. */
export interface Session {
  readonly endpoint: string
  readonly token: string
  /** How the program names itself: `name/version`. Absent: it does not. */
  readonly userAgent?: string
}

/** An answer other than success, with the text of its problem document (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly code: string | null
  /** The field that is wrong; null when the problem is about none. */
  readonly field: string | null
  /** All fields that are wrong in the same way, where the server names several. */
  readonly fields: readonly string[]

  constructor(
    status: number,
    detail: string,
    code: string | null,
    field: string | null = null,
    fields: readonly string[] = [],
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.field = field
    this.fields = fields
  }
}

interface Problem {
  readonly title?: string
  readonly detail?: string
  readonly code?: string
  readonly field?: string
  readonly fields?: readonly string[]
}

async function send(
  session: Session,
  method: string,
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: {
      authorization: `Bearer ${session.token}`,
      ...(session.userAgent !== undefined && { 'user-agent': session.userAgent }),
    },
    ...(signal ? { signal } : {}),
  }
  if (body !== undefined)
    Object.assign(init, {
      body: JSON.stringify(body),
      headers: { ...init.headers, 'content-type': 'application/json' },
    })
  const response = await fetch(`${session.endpoint}/api/v1${path}`, init).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    throw new SpoutError('Unavailable', { what: session.endpoint, reason: cause })
  })
  if (response.ok) return response
  const text = await response.text()
  const problem = parseProblem(text)
  throw new ApiProblem(
    response.status,
    problem?.detail ?? problem?.title ?? `the server answered ${response.status}`,
    problem?.code ?? null,
    problem?.field ?? null,
    problem?.fields,
  )
}

function parseProblem(text: string): Problem | null {
  try {
    return JSON.parse(text) as Problem
  } catch {
    return null
  }
}

/** As `call`, with the headers of the answer. */
export async function callWithHeaders<T>(
  session: Session,
  method: string,
  path: string,
): Promise<{ readonly answer: T; readonly headers: Headers }> {
  const response = await send(session, method, path, undefined)
  return { answer: JSON.parse(await response.text()) as T, headers: response.headers }
}

/** Calls the API once. @returns undefined for an empty answer. @throws ApiProblem, SpoutError Unavailable */
export async function call<T>(
  session: Session,
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const text = await (await send(session, method, path, body, signal)).text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** The lines of a watch, until the server ends it or `signal` aborts. */
export async function* watch<T>(session: Session, path: string, signal: AbortSignal): AsyncIterable<T> {
  const response = await send(session, 'GET', path, undefined, signal)
  const splitter = new LineSplitter()
  for await (const chunk of response.body ?? [])
    for (const line of splitter.push(Buffer.from(chunk as Uint8Array))) if (line !== '') yield JSON.parse(line) as T
}
