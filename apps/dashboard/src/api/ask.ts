import { Problem, problemOf } from './problem.ts'

export interface Answer<T> {
  readonly body: T
  /** Names the version that was read, for `If-Match`; null without one. */
  readonly etag: string | null
}

export interface Question {
  readonly body?: unknown
  /** The version that a change is for: any other is refused with 412. */
  readonly ifMatch?: string | null
  readonly signal?: AbortSignal
}

export const API = '/api/v1'

/** Proves to the server that this page asks, where browsers send no `Sec-Fetch-Site`. */
export const PAGE_HEADERS = { 'spout-page': '1' } as const

/** Asks the native API, with the version of what was read. @param path below `/api/v1` @throws Problem */
export async function askWithVersion<T>(method: string, path: string, question: Question = {}): Promise<Answer<T>> {
  const response = await send(method, `${API}${path}`, question)
  const text = await response.text()
  if (!response.ok) throw problemOf(response.status, text)
  return { body: (text === '' ? undefined : JSON.parse(text)) as T, etag: response.headers.get('etag') }
}

/** Asks the native API. @param path below `/api/v1` @throws Problem */
export const ask = async <T>(method: string, path: string, question: Question = {}): Promise<T> =>
  (await askWithVersion<T>(method, path, question)).body

async function send(method: string, url: string, { body, ifMatch, signal }: Question): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: {
        ...PAGE_HEADERS,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ifMatch != null && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Problem(0, 'The control plane does not answer. The page goes on by itself when it does.', 'Unreachable')
  }
}
