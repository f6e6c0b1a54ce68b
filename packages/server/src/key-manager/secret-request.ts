import { parseAs, SECRET_TYPES } from '@spout/model'
import { z } from 'zod'
import { mismatch } from './fault.ts'
import { payloadIn } from './payload.ts'

const word = z.string().max(255).nullish()

/** The body of `POST /v1/secrets`. As in Barbican, other attributes are ignored. */
const secretRequest = z.object({
  name: word,
  algorithm: word,
  mode: word,
  bit_length: z.number().int().min(1).max(32_767).nullish(),
  expiration: word,
  secret_type: z.enum(SECRET_TYPES).nullish(),
  payload: z.string().nullish(),
  payload_content_type: word,
  payload_content_encoding: z.literal('base64').nullish(),
})

/** Parses a request for a new secret. @throws KeyManagerFault, SpoutError; none quotes the payload */
export function readSecret(body: unknown, now: Date) {
  const request = parseAs(secretRequest, body)
  return {
    name: request.name?.trim() ?? '',
    secretType: request.secret_type ?? ('opaque' as const),
    algorithm: request.algorithm ?? null,
    mode: request.mode ?? null,
    bitLength: request.bit_length ?? null,
    expiresAt: expiration(request.expiration?.trim() ?? '', now),
    payload: payloadIn(request),
  }
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:?\d\d)?$/

/** A time without a zone is in UTC. */
function expiration(text: string, now: Date): string | null {
  if (text === '') return null
  const [, zone] = TIME.exec(text) ?? []
  const ms = TIME.test(text) ? Date.parse(zone === undefined && text.includes('T') ? `${text}Z` : text) : Number.NaN
  if (Number.isNaN(ms)) throw mismatch('Secret', 'expiration', "Invalid date for 'expiration'")
  if (ms <= now.getTime()) throw mismatch('Secret', 'expiration', "'expiration' is before current time")
  return new Date(ms).toISOString()
}
