import type { Role } from '@spout/model'

/** The authenticated caller. An administrator reads and changes every project. */
export interface Principal {
  readonly userId: string
  readonly userName: string
  /** The project of the token; null for an unscoped token, which gives access to no object. */
  readonly projectId: string | null
  readonly roles: readonly Role[]
  readonly expiresAt: string
}
