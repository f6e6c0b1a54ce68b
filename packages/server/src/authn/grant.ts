import type { Token } from '@spout/model'

/** How a token was obtained. It is stored in the token's name, and shown as Keystone's `methods`. */
export type Method = 'password' | 'application_credential' | 'token' | 'oidc'

const METHODS: readonly Method[] = ['password', 'application_credential', 'token', 'oidc']

export const methodOf = (token: Token): Method => METHODS.find((method) => method === token.name) ?? 'token'

/** The application credential that a token was issued for; null for others. The token ends with its credential. */
export const credentialOf = (token: Token): string | null =>
  methodOf(token) === 'application_credential' ? token.description : null
