import { z } from 'zod'
import { timestamp } from '../scalars/scalars.ts'

export const AUDIT_SURFACES = ['native', 'octavia', 'identity', 'network', 'key-manager', 'agent-link'] as const
export type AuditSurface = (typeof AUDIT_SURFACES)[number]

/** One action that was done or attempted: ids, a route and a result. It never contains a secret or a body. */
export const auditRecord = z.strictObject({
  time: timestamp,
  /** The id that the client got in `x-openstack-request-id`. */
  requestId: z.string(),
  surface: z.enum(AUDIT_SURFACES),
  /** Method and pattern of the route: `PATCH /api/v1/load-balancers/:id`. */
  operation: z.string(),
  /** The caller. Null: it did not authenticate, or it is a node. */
  userId: z.string().nullable(),
  userName: z.string().nullable(),
  /** The project that the token is scoped to. */
  projectId: z.string().nullable(),
  /** The client's address, or `local` for the socket in the state directory. Null if the reader may not see it. */
  from: z.string().nullable(),
  /**
   * How the caller was authenticated: `password`, `application_credential`, `token`, `certificate`, `enrolment_token`,
   * `service_account`, `oidc` (a provider of OpenID Connect), `session` (the web page's).
   */
  method: z.string().nullable(),
  /** Id of the application credential. */
  credentialId: z.string().nullable(),
  /** The first 12 digits of the token's hash. They distinguish logins and reveal no token. */
  token: z.string().nullable(),
  /** Names and ids from the route, such as `load-balancers/ID/pools/ID`; null without any. */
  object: z.string().nullable(),
  /** The load balancer that the object is a part of, where `object` does not name it. */
  loadBalancerId: z.string().optional(),
  /** The project that owns the object, where known. */
  objectProjectId: z.string().nullable(),
  /** The HTTP status, and a code of the error table. */
  status: z.number().int(),
  code: z.string().nullable(),
})
export type AuditRecord = Readonly<z.output<typeof auditRecord>>
