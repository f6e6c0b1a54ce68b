import { z } from 'zod'
import { metaShape, timestamp, uuid } from './scalars.ts'

/** What a tenant owns things by. Ids are 32 hexadecimal digits in OpenStack; here UUIDs, printed either way. */
export const project = z.strictObject({ ...metaShape, enabled: z.boolean() })
export type Project = z.infer<typeof project>

const count = z.number().int().min(0).max(1_000_000)
/** Of load balancers and networks as JSON, with all that is in them, and of application credentials. */
const bytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)

/** What a project may have: every limit is finite, -1 does not exist here. */
export const quotaLimits = z.strictObject({
  loadBalancers: count,
  listeners: count,
  pools: count,
  members: count,
  healthMonitors: count,
  networks: count,
  addresses: count,
  bytes,
})
export type QuotaLimits = z.infer<typeof quotaLimits>
export type QuotaResource = keyof QuotaLimits
export const QUOTA_RESOURCES = Object.keys(quotaLimits.shape) as readonly QuotaResource[]

/** Limits of one project; `id` is the project's. Bytes that nobody set follow the others. */
export const quota = z.strictObject({ ...metaShape, limits: quotaLimits.partial({ bytes: true }) })
export type Quota = z.infer<typeof quota>

const COUNTS = { loadBalancers: 100, listeners: 500, pools: 500, members: 5000, healthMonitors: 500 } as const

/**
 * What so many objects may take together, in bytes: far more than they do unless names, descriptions and tags are long.
 * A project that was given more members has more room for them.
 */
export const roomFor = (limits: Readonly<Record<keyof typeof COUNTS, number>>): number =>
  2048 * limits.members +
  4096 * (limits.listeners + limits.pools + limits.healthMonitors) +
  8192 * (limits.loadBalancers + 1)

export const DEFAULT_QUOTA: QuotaLimits = { ...COUNTS, networks: 20, addresses: 200, bytes: roomFor(COUNTS) }

/** A project's limits. @param own what was set for it */
export const limitsOf = (own: Partial<QuotaLimits>, defaults: QuotaLimits = DEFAULT_QUOTA): QuotaLimits => {
  const limits = { ...defaults, ...own }
  return { ...limits, bytes: own.bytes ?? Math.max(defaults.bytes, roomFor(limits)) }
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
