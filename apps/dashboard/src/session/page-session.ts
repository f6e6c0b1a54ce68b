export type { LoginWays, PageSession } from '@spout/model'

/** What somebody types to log in. */
export type TypedLogin =
  | { readonly userName: string; readonly password: string; readonly projectId?: string }
  | { readonly applicationCredentialId: string; readonly secret: string }

/** The body of `POST /api/v1/session`. */
export type Login = TypedLogin | { readonly code: string; readonly state: string; readonly iss?: string }
