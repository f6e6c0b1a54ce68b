import { z } from 'zod'
import { metaShape, timestamp, uuid } from './scalars.ts'

/** What a tenant owns things by. Ids are 32 hexadecimal digits in OpenStack; here UUIDs, printed either way. */
export const project = z.strictObject({ ...metaShape, enabled: z.boolean() })
export type Project = z.infer<typeof project>

export const QUOTA_RESOURCES = [
  'loadBalancers',
  'listeners',
  'pools',
  'members',
  'healthMonitors',
  'networks',
  'addresses',
] as const
export type QuotaResource = (typeof QUOTA_RESOURCES)[number]

/** Limits of one project; `id` is the project's. Every limit is finite: -1 does not exist here. */
export const quota = z.strictObject({
  ...metaShape,
  limits: z.record(z.enum(QUOTA_RESOURCES), z.number().int().min(0).max(1_000_000)),
})
export type Quota = z.infer<typeof quota>

export const DEFAULT_QUOTA: Readonly<Record<QuotaResource, number>> = {
  loadBalancers: 100,
  listeners: 500,
  pools: 500,
  members: 5000,
  healthMonitors: 500,
  networks: 20,
  addresses: 200,
}

/** `balancer` writes load balancers and reads what they are made of, and nothing else; a member may do that too. */
export const ROLES = ['admin', 'member', 'balancer', 'reader'] as const
export type Role = (typeof ROLES)[number]

/** A person or program. The password is stored as a scrypt record, never as itself. */
export const user = z.strictObject({
  ...metaShape,
  enabled: z.boolean(),
  passwordHash: z.string().nullable(),
  roles: z.array(z.strictObject({ projectId: uuid, role: z.enum(ROLES) })),
})
export type User = z.infer<typeof user>

/** A credential that stands for one user on one project with some of its roles. */
export const applicationCredential = z.strictObject({
  ...metaShape,
  userId: uuid,
  projectId: uuid,
  roles: z.array(z.enum(ROLES)),
  secretHash: z.string(),
  expiresAt: timestamp.nullable(),
})
export type ApplicationCredential = z.infer<typeof applicationCredential>

/** A bearer token. `id` is the SHA-256 of the secret in hex: the secret itself is shown once and never stored. */
export const token = z.strictObject({
  ...metaShape,
  id: z.string().regex(/^[0-9a-f]{64}$/),
  userId: uuid,
  projectId: uuid.nullable(),
  roles: z.array(z.enum(ROLES)),
  expiresAt: timestamp,
})
export type Token = z.infer<typeof token>
