export type { LoginWays, PageSession } from '@spout/model'

/** The body of `POST /api/v1/session`. */
export type Login =
  | { readonly userName: string; readonly password: string; readonly projectId?: string }
  | { readonly applicationCredentialId: string; readonly secret: string }
  | { readonly code: string; readonly state: string; readonly iss?: string }
