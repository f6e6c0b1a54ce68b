import { randomUUID } from 'node:crypto'
import type { User } from '@spout/model'
import type { Clock } from '@spout/runtime'

/** A user without any role. */
export const newUser = (draft: { readonly name: string; readonly description: string }, clock: Clock): User => ({
  id: randomUUID(),
  name: draft.name,
  description: draft.description,
  createdAt: clock.now().toISOString(),
  updatedAt: null,
  enabled: true,
  passwordHash: null,
  roles: [],
})
