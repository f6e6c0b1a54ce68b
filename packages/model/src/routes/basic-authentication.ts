import { z } from 'zod'
import { uuid } from '../scalars/scalars.ts'

const DEFAULT_REALM = 'Authentication required'

/**
 * A request goes on with the name and password of a user of a list alone (RFC 7617); others get 401. Nodes compare what
 * they get with hashes that are stored as private keys are.
 */
export const basicAuthentication = z.strictObject({
  /** What the client says to its user, in quotes of a header. */
  realm: z
    .string()
    .regex(/^[\x20-\x7e]{0,128}$/, 'must be at most 128 printable ASCII characters')
    .default(DEFAULT_REALM),
  /** A certificate object whose use is `users`. */
  usersId: uuid,
})
export type BasicAuthentication = z.infer<typeof basicAuthentication>
