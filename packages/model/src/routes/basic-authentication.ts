import { z } from 'zod'
import { uuid } from '../scalars/scalars.ts'

const DEFAULT_REALM = 'Authentication required'

/**
 * Basic authentication (RFC 7617): only requests with name and password of a user on the list are forwarded. Others get
 * 401. Nodes compare passwords with hashes, which are stored as securely as private keys.
 */
export const basicAuthentication = z.strictObject({
  /** The text that browsers show when they ask for the password. It is sent quoted in a header. */
  realm: z
    .string()
    .regex(/^[\x20-\x7e]{0,128}$/, 'must be at most 128 printable ASCII characters')
    .default(DEFAULT_REALM),
  /** A certificate object whose use is `users`. */
  usersId: uuid,
})
export type BasicAuthentication = z.infer<typeof basicAuthentication>
