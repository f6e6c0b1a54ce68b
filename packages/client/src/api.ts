import { SpoutError } from '@spout/model/errors'
import { LineSplitter } from '@spout/runtime/ndjson'
import { ask, type Session } from './ask.ts'
import { failureText } from './attempt.ts'
import { Silence } from './silence.ts'

export { ApiProblem } from './api-problem.ts'
export type { Session } from './ask.ts'

/** As `call`, with the headers of the answer. */
export async function callWithHeaders<T>(
  session: Session,
  method: string,
  path: string,
): Promise<{ readonly answer: T; readonly headers: Headers }> {
  const { text, headers } = await ask(session, { method, path }, async (response) => ({
    text: await response.text(),
    headers: response.headers,
  }))
  return { answer: JSON.parse(text) as T, headers }
}

/**
 * Calls the API. Of several control planes another is asked only if nothing can be done twice by that.
 * @returns undefined for an empty answer
 * @throws ApiProblem, SpoutError Unavailable
 */
export async function call<T>(
  session: Session,
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const text = await ask(session, { method, path, body, signal }, (response) => response.text())
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** The URL of one that answers now, for clients of its other APIs. @throws ApiProblem, SpoutError Unavailable */
export async function answeringEndpoint(session: Session): Promise<string> {
  const { endpoints } = session
  if (endpoints.urls.length > 1) await call(session, 'GET', '/tokens/current')
  return endpoints.present
}

/**
 * The lines of a watch, until the server ends it or `signal` aborts.
 * @param longestSilenceMs a watch of which nothing comes for this long is broken; 0: it may be silent for ever
 * @throws ApiProblem; SpoutError Unavailable, also when it breaks
 */
export async function* watch<T>(
  session: Session,
  path: string,
  signal: AbortSignal,
  longestSilenceMs = 0,
): AsyncIterable<T> {
  const silence = new Silence(longestSilenceMs)
  const splitter = new LineSplitter()
  for await (const chunk of chunks(session, path, signal, silence))
    for (const line of splitter.push(chunk)) if (line !== '') yield JSON.parse(line) as T
}

/** The body of an answer that goes on. The time that its reader takes is no silence. */
async function* chunks(session: Session, path: string, signal: AbortSignal, silence: Silence): AsyncIterable<Buffer> {
  const { endpoints } = session
  const either = AbortSignal.any([signal, silence.signal])
  silence.begin()
  try {
    const { body, url } = await ask(session, { method: 'GET', path, signal: either }, (response, at) => ({
      body: response.body ?? [],
      url: at,
    }))
    try {
      for await (const chunk of body) {
        silence.end()
        yield Buffer.from(chunk as Uint8Array)
        silence.begin()
      }
    } catch (error) {
      if (signal.aborted) throw error
      if (silence.signal.aborted) endpoints.failed(url)
      throw new SpoutError('Unavailable', { what: url, reason: failureText(error) })
    }
  } finally {
    silence.end()
  }
}
