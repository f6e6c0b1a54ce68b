import type { User } from '@spout/model'
import { ask } from './ask.ts'

export type ShownUser = Omit<User, 'passwordHash'> & { readonly hasPassword: boolean }

/** For administrators alone. */
export const listUsers = async (signal: AbortSignal): Promise<readonly ShownUser[]> =>
  (await ask<{ readonly items: readonly ShownUser[] }>('GET', '/users', { signal })).items
