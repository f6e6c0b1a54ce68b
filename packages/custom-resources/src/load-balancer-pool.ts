import {
  type CheckSettingsField,
  healthMonitor,
  httpProbe,
  member,
  passiveCheck,
  pool,
  poolTls,
  sessionCookie,
} from '@spout/model'
import { z } from 'zod'
import { addressText, apiName, matchLabels } from './words.ts'

/** Larger pools take their members from EndpointSlices. */
const MOST_MEMBERS = 1000
const MOST_SOURCES = 16

const { port } = member.shape
const portReference = z
  .union([z.int().min(1).max(65_535), z.string().min(1).max(63)])
  .describe('The number or the name of a port.')
const objectName = z.string().min(1).max(253)

const memberSpec = z.strictObject({
  name: z.string().max(255).default(''),
  enabled: z.boolean().default(true),
  address: addressText,
  port,
  weight: member.shape.weight.default(1),
  backup: member.shape.backup.default(false),
  monitorAddress: addressText.optional(),
  monitorPort: port.optional(),
})

/**
 * A source of members beside `members`. Exactly one field is set. The named objects are in the namespace of the
 * LoadBalancer.
 */
const memberSource = z.strictObject({
  service: z.strictObject({ name: objectName, port: portReference }).optional().describe('The endpoints of a Service.'),
  services: z
    .strictObject({ matchLabels, port: portReference })
    .optional()
    .describe('The endpoints of all Services with these labels.'),
  endpointSlice: z
    .strictObject({ name: objectName, port: portReference })
    .optional()
    .describe('The ready endpoints of one EndpointSlice, and the number or name of one of its ports.'),
})

/** Settings of some types of checks. */
const checkSettings = {
  http: z
    .strictObject({
      method: httpProbe.shape.method.default('GET'),
      path: httpProbe.shape.path.default('/'),
      expectedCodes: httpProbe.shape.expectedCodes.default([{ first: 200, last: 200 }]),
      version: httpProbe.shape.version.default('1.0'),
      host: httpProbe.shape.host.optional(),
    })
    .optional(),
} satisfies Readonly<Record<CheckSettingsField, z.ZodType>>

const monitor = z.strictObject({
  enabled: z.boolean().default(true),
  type: healthMonitor.shape.type,
  intervalMs: healthMonitor.shape.intervalMs
    .optional()
    .describe('The class decides the defaults of intervalMs, timeoutMs, rise and fall.'),
  timeoutMs: healthMonitor.shape.timeoutMs.optional(),
  rise: healthMonitor.shape.rise.optional(),
  fall: healthMonitor.shape.fall.optional(),
  ...checkSettings,
})

/** Without defaults: the server would fill in those of the other types. */
const persistence = z.strictObject({
  type: z.enum(['source-ip', 'cookie', 'application-cookie']),
  timeoutSeconds: z.int().min(1).max(86_400).optional().describe('For type source-ip.'),
  networks: z
    .strictObject({ ipv4Prefix: z.int().min(1).max(32).optional(), ipv6Prefix: z.int().min(4).max(128).optional() })
    .optional()
    .describe('For type source-ip: clients in one network of this size count as one client.'),
  cookie: sessionCookie.optional().describe('The attributes of the cookie, for type cookie.'),
  cookieName: z.string().min(1).max(64).optional().describe('Required for type application-cookie, and for no other.'),
})

const failuresInTraffic = z.strictObject({
  /** The native API's `on`, which YAML 1.1 reads as true. */
  type: passiveCheck.shape.on.optional(),
  failures: passiveCheck.shape.failures.optional(),
  holdSeconds: passiveCheck.shape.holdSeconds.optional(),
  maxDownPercent: passiveCheck.shape.maxDownPercent.optional(),
})

export const loadBalancerPool = z.strictObject({
  name: apiName.describe('Unique in the object.'),
  enabled: z.boolean().default(true),
  protocol: pool.shape.protocol,
  algorithm: pool.shape.algorithm.default('round-robin'),
  persistence: persistence.optional(),
  members: z.array(memberSpec).max(MOST_MEMBERS).default([]),
  membersFrom: z.array(memberSource).max(MOST_SOURCES).default([]),
  monitor: monitor.optional(),
  panicThreshold: pool.shape.panicThreshold.default(10),
  slowStartSeconds: pool.shape.slowStartSeconds,
  drainSeconds: pool.shape.drainSeconds,
  resetOnDown: pool.shape.resetOnDown,
  passiveCheck: failuresInTraffic.optional(),
  tls: poolTls.optional().describe('TLS settings for connections to members.'),
  http2: z.boolean().default(false).describe('Members speak HTTP/2 without TLS, as most gRPC servers do.'),
  refusedPercent: pool.shape.refusedPercent.describe(
    'The percentage of new connections that is refused. Only for pools of listeners without a proxy.',
  ),
})
export type LoadBalancerPool = z.output<typeof loadBalancerPool>
export type MemberSource = z.output<typeof memberSource>
