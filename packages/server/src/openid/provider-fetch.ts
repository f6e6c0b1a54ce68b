import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import { BodyTooLong, bodyText } from '@spout/runtime'
import { http } from '@spout/runtime/node-http'
import type { CustomFetch, CustomFetchOptions } from 'openid-client'

/** The provider does not answer, or not sensibly. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway'
}

/** A token with some hundred groups takes 50 KB. */
const MOST_ANSWER_BYTES = 262_144
/** What the library reads of an answer's headers. */
const READ_HEADERS = ['content-type', 'www-authenticate'] as const

/**
 * Asks the provider for the library, which would use `fetch`: that takes no authorities of our own, and reads answers
 * however long they are. A redirect is an answer, and not followed.
 *
 * @param ca PEM of the authorities that its certificate may be from; null: those of the system
 */
export const providerFetch =
  (ca: string | null): CustomFetch =>
  async (url, options) => {
    try {
      const answer = await send(url, options, ca)
      const { statusCode: status = 0 } = answer
      const text = await bodyText(answer, { mostBytes: MOST_ANSWER_BYTES })
      if (status === 429 || status >= 500) throw new ProviderAway(`it answered ${status}`)
      const headers = READ_HEADERS.flatMap((name) => {
        const value = answer.headers[name]
        return value === undefined ? [] : [[name, value] satisfies [string, string]]
      })
      return new Response(status === 204 || status === 304 ? null : text, { status, headers })
    } catch (error) {
      if (error instanceof ProviderAway) throw error
      if (error instanceof BodyTooLong) throw new ProviderAway(error.message)
      if (options.signal?.aborted === true) throw new ProviderAway('it did not answer in time')
      const { code, message } = error as NodeJS.ErrnoException
      throw new ProviderAway(code ?? message)
    }
  }

function send(url: string, options: CustomFetchOptions, ca: string | null): Promise<IncomingMessage> {
  const { method, headers, body, signal } = options
  const isTls = url.startsWith('https:')
  const tls = { minVersion: 'TLSv1.2', ...(ca !== null && { ca }) } as const
  return new Promise((resolve, reject) => {
    const { request } = isTls ? https : http
    // A connection that is kept may be closed by the other end just then; logins are rare.
    const sent = request(url, { method, headers, agent: false, ...(signal && { signal }), ...(isTls && tls) }, resolve)
    sent.on('error', reject)
    sent.end(body == null ? undefined : String(body))
  })
}
