import { z } from 'zod'
import { metaShape, tags } from '../scalars/scalars.ts'
import { CHECK_TYPES, type CheckSettingsField } from './check-kinds.ts'

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'CONNECT', 'PATCH'] as const

/** Printable ASCII without spaces, as a request line allows. */
const requestTarget = z
  .string()
  .max(255)
  .regex(/^\/[\x21-\x7e]*$/, 'must begin with / and hold printable ASCII without spaces')

/** The request that an HTTP check sends and the answer that it expects. */
export const httpProbe = z.strictObject({
  method: z.enum(HTTP_METHODS),
  path: requestTarget,
  /** Inclusive ranges of accepted status codes. */
  expectedCodes: z
    .array(z.strictObject({ first: z.number().int().min(100).max(599), last: z.number().int().min(100).max(599) }))
    .min(1)
    .max(50),
  version: z.enum(['1.0', '1.1']),
  /**
   * The Host header and, for type `https`, the server name (SNI). Null: the member's address as Host, and no server
   * name.
   */
  host: z
    .string()
    .max(255)
    .regex(/^[A-Za-z0-9.-]+$/, 'is not a host name')
    .nullable(),
})
export type HttpProbe = z.infer<typeof httpProbe>

/** Settings of some types: present exactly for these (`CHECK_KINDS`). A later one is optional, since older monitors lack it. */
const checkSettings = {
  http: httpProbe.nullable(),
} satisfies Readonly<Record<CheckSettingsField, z.ZodType>>

/** The longest time-out of a probe, whatever its monitor says: the number of simultaneous probes is limited. */
export const MOST_CHECK_TIMEOUT_MS = 60_000

/** How the members of a pool are probed. */
export const healthMonitor = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  type: z.enum(CHECK_TYPES),
  /** Time between two probes of an endpoint. */
  intervalMs: z.number().int().min(100).max(86_400_000),
  /** Nodes wait at most `MOST_CHECK_TIMEOUT_MS`. */
  timeoutMs: z.number().int().min(10).max(86_400_000),
  /** Successes in a row that bring a member up. */
  rise: z.number().int().min(1).max(10),
  /** Failures in a row that take a member down. */
  fall: z.number().int().min(1).max(10),
  ...checkSettings,
})
export type HealthMonitor = z.infer<typeof healthMonitor>
