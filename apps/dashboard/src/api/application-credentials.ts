import type { ApplicationCredential, Role } from '@spout/model'
import { ask } from './ask.ts'

export type ShownCredential = Omit<ApplicationCredential, 'secretHash'>

export interface CredentialDraft {
  readonly name: string
  readonly description: string
  readonly roles: readonly Role[]
  /** Null: it does not expire. */
  readonly expiresAt: string | null
}

/** Those of the user for the project of the session. */
export const listCredentials = async (signal: AbortSignal): Promise<readonly ShownCredential[]> =>
  (await ask<{ readonly items: readonly ShownCredential[] }>('GET', '/application-credentials', { signal })).items

/** @returns it with its secret, which is told this once */
export const createCredential = (draft: CredentialDraft): Promise<ShownCredential & { readonly secret: string }> =>
  ask('POST', '/application-credentials', { body: draft })

export const deleteCredential = (id: string): Promise<void> => ask('DELETE', `/application-credentials/${id}`)
