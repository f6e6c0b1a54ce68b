import { z } from 'zod'
import { MOST_ROUTE_CONDITIONS } from '../routes/http-route.ts'
import { domains } from '../scalars/dns-name.ts'
import { metaShape, timestamp, uuid } from '../scalars/scalars.ts'

/** Limit of the length of a project's name. */
export const MOST_PROJECT_NAME = 64

/** A tenant, the owner of objects. OpenStack ids have 32 hexadecimal digits; ours are UUIDs, printed either way. */
export const project = z.strictObject({
  ...metaShape,
  enabled: z.boolean(),
  /** Domains that the administrator assigned. Absent or empty: none. */
  domains: domains.optional(),
  /** Domains of its claims that it holds now (`isHeld`). */
  provenDomains: domains.optional(),
})
export type Project = z.infer<typeof project>

/** The DNS names that a project may use. */
export const domainsOf = (of: Pick<Project, 'domains' | 'provenDomains'>): readonly string[] => [
  ...(of.domains ?? []),
  ...(of.provenDomains ?? []),
]

const MOST_COUNT = 1_000_000
const count = z.number().int().min(0).max(MOST_COUNT)
/**
 * Limit of the size as JSON of load balancers and networks with everything in them, application credentials,
 * certificates, secrets and security groups, together.
 */
const bytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)

/** The limits of a project. All are finite: there is no -1 for unlimited. */
export const quotaLimits = z.strictObject({
  loadBalancers: count,
  listeners: count,
  pools: count,
  members: count,
  healthMonitors: count,
  /** Routes of HTTP listeners. */
  routes: count,
  /** Conditions of all these routes. */
  routeConditions: count,
  networks: count,
  addresses: count,
  certificates: count,
  /** Secrets of the key manager, and their containers. */
  secrets: count,
  /** Each has at most 200 rules. */
  securityGroups: count,
  bytes,
})
export type QuotaLimits = z.infer<typeof quotaLimits>
export type QuotaResource = keyof QuotaLimits
export const QUOTA_RESOURCES = Object.keys(quotaLimits.shape) as readonly QuotaResource[]

/**
 * Limits of load balancers per class, by the class's id. 0: the project may not use the class. Classes that are not
 * named have no limit of their own.
 */
export const classLimits = z.record(uuid, count)
export type ClassLimits = z.infer<typeof classLimits>

/**
 * A project's limit for a class, and how much of it is used. `limit` null: only the limit of load balancers applies.
 */
export const classQuota = z.strictObject({
  id: uuid,
  name: z.string(),
  limit: count.nullable(),
  used: count,
})
export type ClassQuota = z.infer<typeof classQuota>

/**
 * Limits that were set for one project; `id` is the project's. Limits of bytes and conditions that were not set are
 * derived from the other limits. Earlier versions stored no limits of routes, certificates, secrets and security
 * groups.
 */
export const quota = z.strictObject({
  ...metaShape,
  limits: quotaLimits.partial({
    ...{ bytes: true, routes: true, routeConditions: true, certificates: true, secrets: true, securityGroups: true },
  }),
  /** Absent: none. */
  classes: classLimits.optional(),
})
export type Quota = z.infer<typeof quota>

const COUNTS = {
  loadBalancers: 100,
  listeners: 500,
  pools: 500,
  members: 5000,
  healthMonitors: 500,
  routes: 1000,
} as const

/**
 * The default limit of bytes for this many objects: far more than they need, unless names, descriptions and tags are
 * long. So a larger quota of members brings a larger quota of bytes.
 */
export const roomFor = (limits: Readonly<Record<keyof typeof COUNTS, number>>): number =>
  2048 * (limits.members + limits.routes) +
  4096 * (limits.listeners + limits.pools + limits.healthMonitors) +
  8192 * (limits.loadBalancers + 1)

/** The most conditions that this many routes can have. */
const conditionsOf = (routes: number): number => Math.min(MOST_COUNT, MOST_ROUTE_CONDITIONS * routes)

export const DEFAULT_QUOTA: QuotaLimits = {
  ...COUNTS,
  routeConditions: conditionsOf(COUNTS.routes),
  networks: 20,
  addresses: 200,
  certificates: 100,
  secrets: 500,
  securityGroups: 100,
  bytes: roomFor(COUNTS),
}

/** A project's limits. @param own the limits that were set for it */
export const limitsOf = (own: Partial<QuotaLimits>, defaults: QuotaLimits = DEFAULT_QUOTA): QuotaLimits => {
  const limits = { ...defaults, ...own }
  return {
    ...limits,
    bytes: own.bytes ?? Math.max(defaults.bytes, roomFor(limits)),
    routeConditions: own.routeConditions ?? Math.max(defaults.routeConditions, conditionsOf(limits.routes)),
  }
}

/** Octavia's own roles. The policy set says what they may do in the Octavia API. */
const OCTAVIA_ROLES = [
  'load-balancer_admin',
  'load-balancer_member',
  'load-balancer_quota_admin',
  'load-balancer_global_observer',
  'load-balancer_observer',
] as const

/** A `balancer` may only write load balancers and read what they refer to. A `member` may do that and more. */
export const ROLES = ['admin', 'member', 'balancer', 'reader', ...OCTAVIA_ROLES] as const
export type Role = (typeof ROLES)[number]

/**
 * A custom role. It allows nothing: it exists for Keystone clients that create and grant roles and then look for them.
 */
export const customRole = z.strictObject({ ...metaShape })
export type CustomRole = z.infer<typeof customRole>

/**
 * A grant that allows nothing, kept for clients of Keystone: of a custom role, or of any role on the domain
 * (`projectId` null).
 */
export const keystoneGrant = z.strictObject({ roleId: uuid, projectId: uuid.nullable() })
export type KeystoneGrant = z.infer<typeof keystoneGrant>

/** A person or program. The password is stored as a scrypt record only. */
export const user = z.strictObject({
  ...metaShape,
  enabled: z.boolean(),
  passwordHash: z.string().nullable(),
  roles: z.array(z.strictObject({ projectId: uuid, role: z.enum(ROLES) })),
  keystoneGrants: z.array(keystoneGrant).optional(),
})
export type User = z.infer<typeof user>

/** A credential that acts as one user in one project with some of the user's roles. */
export const applicationCredential = z.strictObject({
  ...metaShape,
  userId: uuid,
  projectId: uuid,
  roles: z.array(z.enum(ROLES)),
  secretHash: z.string(),
  expiresAt: timestamp.nullable(),
})
export type ApplicationCredential = z.infer<typeof applicationCredential>

/** A bearer token. `id` is the SHA-256 of the secret in hex. The secret is shown once and never stored. */
export const token = z.strictObject({
  ...metaShape,
  id: z.string().regex(/^[0-9a-f]{64}$/),
  userId: uuid,
  projectId: uuid.nullable(),
  roles: z.array(z.enum(ROLES)),
  expiresAt: timestamp,
})
export type Token = z.infer<typeof token>
