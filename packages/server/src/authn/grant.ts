import type { Token } from '@spout/model'

/** How a token was obtained. It is stored in the token's name, and shown as Keystone's `methods`. */
export type Method = 'password' | 'application_credential' | 'token'

const METHODS: readonly Method[] = ['password', 'application_credential', 'token']

export const methodOf = (token: Token): Method => METHODS.find((method) => method === token.name) ?? 'token'

/** The application credential of a token, which ends with it. Null for others. */
export const credentialOf = (token: Token): string | null =>
  methodOf(token) === 'application_credential' ? token.description : null
