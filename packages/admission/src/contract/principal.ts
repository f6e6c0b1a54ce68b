import type { Role } from '@spout/model'

/** Who asks, as a surface found out. An administrator sees and changes every project. */
export interface Principal {
  readonly userId: string
  readonly userName: string
  /** The project that the token is scoped to; null for an unscoped one, which may do nothing with objects. */
  readonly projectId: string | null
  readonly roles: readonly Role[]
  readonly expiresAt: string
}
