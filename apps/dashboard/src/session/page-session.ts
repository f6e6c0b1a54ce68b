import type { Role } from '@spout/model'

/** Who uses the page, as `GET /api/v1/session` says. */
export interface PageSession {
  readonly userId: string
  readonly userName: string
  /** Null: logged in without a project. */
  readonly projectId: string | null
  readonly projectName: string | null
  /** Of this user in this project, as they are now. */
  readonly roles: readonly Role[]
  /** RFC 3339. */
  readonly expiresAt: string
  readonly method: 'password' | 'application_credential' | 'token'
  /** Those that this session may switch to. The present one is among them. */
  readonly projects: readonly SessionProject[]
  readonly version: string
  /** Null: the page's own origin is the URL of the API. */
  readonly publicUrl: string | null
  readonly keystone: boolean
}

export interface SessionProject {
  readonly id: string
  readonly name: string
  readonly roles: readonly Role[]
}

export type Login =
  | { readonly userName: string; readonly password: string; readonly projectId?: string }
  | { readonly applicationCredentialId: string; readonly secret: string }
  | { readonly token: string }
