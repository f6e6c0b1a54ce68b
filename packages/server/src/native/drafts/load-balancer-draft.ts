import {
  type CheckSettingsField,
  cipherList,
  healthMonitor,
  httpProbe,
  listener,
  listenerOptions,
  MOST_ROUTES,
  member,
  passiveCheck,
  pool,
  poolTls,
  uuid,
} from '@spout/model'
import { z } from 'zod'
import { echoed, text } from './part-fields.ts'
import { routeDraft } from './route-draft.ts'

export const memberDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  address: member.shape.address,
  port: member.shape.port,
  subnetId: member.shape.subnetId.default(null),
  weight: member.shape.weight.default(1),
  backup: z.boolean().default(false),
  monitorAddress: member.shape.monitorAddress.default(null),
  monitorPort: member.shape.monitorPort.default(null),
})

export const probeDraft = z.strictObject({
  method: httpProbe.shape.method.default('GET'),
  path: httpProbe.shape.path.default('/'),
  expectedCodes: httpProbe.shape.expectedCodes.default([{ first: 200, last: 200 }]),
  version: httpProbe.shape.version.default('1.0'),
  host: httpProbe.shape.host.default(null),
})

/** Settings of some types. Null: the usual ones. */
const checkSettings = {
  http: probeDraft.nullable().default(null),
} satisfies Readonly<Record<CheckSettingsField, z.ZodType>>

export const monitorDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  type: healthMonitor.shape.type,
  /** Default of these four: as the load balancer's class says, else 1 s, 800 ms (or a shorter interval), 2, 3. */
  intervalMs: healthMonitor.shape.intervalMs.optional(),
  timeoutMs: healthMonitor.shape.timeoutMs.optional(),
  rise: healthMonitor.shape.rise.optional(),
  fall: healthMonitor.shape.fall.optional(),
  ...checkSettings,
})

const passiveDraft = z.strictObject({
  on: passiveCheck.shape.on.default('connection'),
  failures: passiveCheck.shape.failures.default(5),
  holdSeconds: passiveCheck.shape.holdSeconds.default(10),
  maxDownPercent: passiveCheck.shape.maxDownPercent.default(50),
})

export const poolDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  protocol: pool.shape.protocol,
  algorithm: pool.shape.algorithm.default('round-robin'),
  persistence: pool.shape.persistence.default(null),
  members: z.array(memberDraft).max(10_000).default([]),
  monitor: monitorDraft.nullable().default(null),
  panicThreshold: pool.shape.panicThreshold.default(10),
  slowStartSeconds: pool.shape.slowStartSeconds,
  drainSeconds: pool.shape.drainSeconds,
  resetOnDown: pool.shape.resetOnDown,
  passiveCheck: passiveDraft.nullable().default(null),
  tls: poolTls
    .extend({ ciphers: cipherList.nullable().default(null), crlCertificateId: uuid.nullable().default(null) })
    .nullable()
    .default(null),
  http2: z.boolean().default(false),
  /** Null and 0: none. */
  refusedPercent: z.number().min(0).max(100).nullish(),
})

export const listenerDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  protocol: listener.shape.protocol,
  port: listener.shape.port,
  defaultPoolId: uuid.nullable().default(null),
  /** The name of a pool of the same load balancer, for a pool whose id is not known yet. */
  defaultPool: z.string().max(255).optional(),
  routes: z.array(routeDraft).max(MOST_ROUTES).default([]),
  tls: listener.shape.tls,
  ...listenerOptions,
})

export type MemberDraft = z.output<typeof memberDraft>
export type PoolDraft = z.output<typeof poolDraft>
export type ListenerDraft = z.output<typeof listenerDraft>
export type MonitorDraft = z.output<typeof monitorDraft>
