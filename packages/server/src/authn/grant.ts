import type { Token } from '@spout/model'

/** By what a token was earned, kept in the token's name: shown as Keystone's `methods`. */
export type Method = 'password' | 'application_credential' | 'token'

const METHODS: readonly Method[] = ['password', 'application_credential', 'token']

export const methodOf = (token: Token): Method => METHODS.find((method) => method === token.name) ?? 'token'

/** The application credential that a token hangs on: it ends with it. Null for others. */
export const credentialOf = (token: Token): string | null =>
  methodOf(token) === 'application_credential' ? token.description : null
