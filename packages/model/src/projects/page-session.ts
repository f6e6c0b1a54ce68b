import { z } from 'zod'
import { timestamp, uuid } from '../scalars/scalars.ts'
import { ROLES } from './project.ts'

const roles = z.array(z.enum(ROLES))

/** What the web page is told of its session: who uses it, and where this user may go. It contains no secret. */
export const pageSession = z.strictObject({
  userId: uuid,
  userName: z.string(),
  /** Null: the user has chosen no project yet. */
  projectId: uuid.nullable(),
  projectName: z.string().nullable(),
  /** In this project, as they are now. */
  roles,
  expiresAt: timestamp,
  /** The projects that the session may switch to, by name, with the present one. */
  projects: z.array(z.strictObject({ id: uuid, name: z.string(), roles })),
  /** Of the control plane. */
  version: z.string(),
  /** The setting `api.publicUrl`; null when it is not set. */
  publicUrl: z.string().nullable(),
  /** Whether tokens of a Keystone of its own are accepted, too. */
  keystone: z.boolean(),
})
export type PageSession = Readonly<z.output<typeof pageSession>>

/** The ways to log in on the web page, beside users and application credentials of ours. */
export const loginWays = z.strictObject({
  /** An OpenID Connect provider, as people call it; null: there is none. */
  oidc: z.strictObject({ name: z.string() }).nullable(),
})
export type LoginWays = Readonly<z.output<typeof loginWays>>
