import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A key that signs tokens by RS256 (RFC 7518, section 3.3), under one name whichever key it is. */
export interface SigningKey {
  readonly key: KeyObject
  /** With the private part: what the provider is given. */
  readonly jwk: object
}

const KEY_ID = 'of-the-provider'

export function newSigningKey(): SigningKey {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { key, jwk: { ...key.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' } }
}

/** What a token that a provider should never issue has instead. */
export interface Forgery {
  readonly claims?: Readonly<Record<string, unknown>>
  /** A key that is not the provider's; null: no signature at all. */
  readonly key?: SigningKey | null
}

const textOf = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The token with other contents (RFC 7515, section 7.1), signed by the provider unless the forgery says otherwise. */
export function forged(token: string, own: SigningKey, { claims, key = own }: Forgery): string {
  const [, payload = ''] = token.split('.')
  const said = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as object
  const header = textOf(key === null ? { alg: 'none' } : { alg: 'RS256', kid: KEY_ID })
  const signed = `${header}.${textOf({ ...said, ...claims })}`
  return `${signed}.${key === null ? '' : sign('sha256', Buffer.from(signed), key.key).toString('base64url')}`
}
