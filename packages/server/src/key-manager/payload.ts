import type { Payload } from '@spout/admission/contract'
import { MOST_SECRET_BYTES, PAYLOAD_TYPES, type PayloadType } from '@spout/model'
import { KeyManagerFault, mismatch } from './fault.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** `text/plain; charset=utf-8` is `text/plain`. Null for what a payload cannot be. */
function payloadType(text: string): PayloadType | null {
  const [mime = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  if (parameters.some((one) => one !== 'charset=utf-8') || (parameters.length > 0 && mime !== 'text/plain')) return null
  return PAYLOAD_TYPES.find((one) => one === mime) ?? null
}

interface PayloadRequest {
  readonly payload?: string | null | undefined
  readonly payload_content_type?: string | null | undefined
  readonly payload_content_encoding?: string | null | undefined
}

/** The payload in the body of a creation; null without one. @throws KeyManagerFault that never quotes it */
export function payloadIn(request: PayloadRequest): Payload | null {
  const { payload_content_type: given, payload_content_encoding: encoding = null } = request
  if (request.payload === undefined || request.payload === null) {
    if (given === undefined || given === null) return null
    throw mismatch('Secret', 'payload', 'payload must be provided when payload_content_type is specified')
  }
  if (given === undefined || given === null)
    throw mismatch(
      'Secret',
      'payload_content_type',
      "If 'payload' is supplied, 'payload_content_type' must also be supplied.",
    )
  const type = payloadType(given)
  if (type === null)
    throw mismatch('Secret', 'payload_content_type', `payload_content_type is not one of ${PAYLOAD_TYPES.join(', ')}`)
  const isText = type === 'text/plain'
  if ((encoding === 'base64') === isText)
    throw mismatch(
      'Secret',
      'payload_content_encoding',
      `payload_content_encoding of ${type} must be ${isText ? 'left out' : 'base64'}`,
    )
  const text = request.payload.trim()
  if (text === '') throw mismatch('Secret', 'payload', "If 'payload' specified, must be non empty")
  return limited({ type, bytes: isText ? Buffer.from(text) : fromBase64(text) })
}

/** The payload that is the whole body. @throws KeyManagerFault that never quotes it */
export function payloadOfBody(body: unknown, contentType: string, encoding: string | undefined): Payload {
  const type = payloadType(contentType)
  if (type === null) throw new KeyManagerFault(415, `Content-Type of '${contentType}' is not supported for PUT.`)
  if (!Buffer.isBuffer(body) || body.length === 0) throw new KeyManagerFault(400, 'No data supplied to process.')
  if (encoding === undefined || encoding === 'binary') return limited({ type, bytes: body })
  if (encoding !== 'base64' || type === 'text/plain')
    throw new KeyManagerFault(400, `Content-Encoding of '${encoding}' is not supported for ${type}.`)
  return limited({ type, bytes: fromBase64(body.toString('latin1').trim()) })
}

function fromBase64(text: string): Buffer {
  // Files have their base64 in lines.
  const digits = text.replaceAll(/\s+/g, '')
  if (!BASE64.test(digits)) throw mismatch('Secret', 'payload', 'Invalid payload for payload_content_encoding')
  return Buffer.from(digits, 'base64')
}

function limited(payload: Payload): Payload {
  if (payload.bytes.length > MOST_SECRET_BYTES)
    throw new KeyManagerFault(
      413,
      `Provided information too large to process: a payload has at most ${MOST_SECRET_BYTES} bytes`,
    )
  return payload
}

/**
 * The type that a payload is answered as. @param accept the header of the request
 * @throws KeyManagerFault 406
 */
export function answeredType({ type, bytes }: Payload, accept: string | undefined): PayloadType {
  const wanted = (accept ?? '*/*').split(',').map((range) => range.split(';')[0]?.trim().toLowerCase() ?? '')
  if (wanted.includes(type) || wanted.includes('*/*') || wanted.includes('')) return type
  const other = PAYLOAD_TYPES.find((one) => wanted.includes(one))
  if (other !== undefined && (other !== 'text/plain' || isUtf8(bytes))) return other
  throw new KeyManagerFault(406, `Secret payload retrieval issue seen - content type of ${type} is not accepted.`)
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
