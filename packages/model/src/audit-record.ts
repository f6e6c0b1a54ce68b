import { z } from 'zod'
import { timestamp } from './scalars.ts'

export const AUDIT_SURFACES = ['native', 'octavia', 'identity', 'network', 'agent-link'] as const
export type AuditSurface = (typeof AUDIT_SURFACES)[number]

/** One thing that somebody did or tried. Never a secret and never a body: ids, a route and a result. */
export const auditRecord = z.strictObject({
  time: timestamp,
  /** As the client was told it in `x-openstack-request-id`. */
  requestId: z.string(),
  surface: z.enum(AUDIT_SURFACES),
  /** Method and pattern of the route: `PATCH /api/v1/load-balancers/:id`. */
  operation: z.string(),
  /** Who it was; null for a stranger, and for a node. */
  userId: z.string().nullable(),
  userName: z.string().nullable(),
  /** The project that the token was for. */
  projectId: z.string().nullable(),
  /** The client's address, `local` for the socket in the state directory; null where it is not for the reader. */
  from: z.string().nullable(),
  /** By what the caller was known: `password`, `application_credential`, `token`, `certificate`, `enrolment_token`, `service_account`. */
  method: z.string().nullable(),
  /** The application credential. */
  credentialId: z.string().nullable(),
  /** The first 12 digits of the token's hash: tells logins apart, and leads to no token. */
  token: z.string().nullable(),
  /** Words and ids from the route, such as `load-balancers/ID/pools/ID`; null when there was none. */
  object: z.string().nullable(),
  /** The project that the object belongs to, where that is known. */
  objectProjectId: z.string().nullable(),
  /** The HTTP status, and the error of the one table. */
  status: z.number().int(),
  code: z.string().nullable(),
})
export type AuditRecord = Readonly<z.output<typeof auditRecord>>
