import { z } from 'zod'
import { healthMonitor } from '../health-checks/health-monitor.ts'
import { metaShape, uuid } from '../scalars/scalars.ts'

/** Fields of an offer, which an administrator makes and a new load balancer may name. */
const offerShape = {
  ...metaShape,
  /** False: no new load balancer may name it. Existing ones keep it. */
  enabled: z.boolean(),
  /** The node group that carries its load balancers; null: the offer does not choose one. */
  nodeGroupId: uuid.nullable(),
  /** The `OctaviaProfile` that its settings were read from. Absent: none. */
  profileId: uuid.optional(),
} as const

/** Defaults for the settings that a health monitor leaves out. */
export const monitorDefaults = healthMonitor
  .pick({ intervalMs: true, timeoutMs: true, rise: true, fall: true })
  .extend({ timeoutMs: healthMonitor.shape.timeoutMs.nullable() })
export type MonitorDefaults = z.infer<typeof monitorDefaults>

/** The defaults without a class. `timeoutMs` null: 800 ms, or the interval if that is shorter. */
export const USUAL_MONITOR: MonitorDefaults = { intervalMs: 1000, timeoutMs: null, rise: 2, fall: 3 }

/** Limits of a load balancer's own proxy process on each node. Absent: the limit of shared proxies. */
export const dedicatedProxy = z.strictObject({
  memoryMegabytes: z.number().int().min(32).max(65_536).optional(),
  /** Processor time in processors: 0.5 is half of one. */
  processors: z.number().min(0.05).max(64).optional(),
  /** Simultaneous connections. Further ones wait. */
  connections: z.number().int().min(100).max(1_000_000).optional(),
})
export type DedicatedProxy = z.infer<typeof dedicatedProxy>

/** The largest `requestSizes.headerBytes` that a shared proxy can hold. */
export const MOST_SHARED_HEADER_BYTES = 12_288

/** Size limits for requests of HTTP listeners. Larger ones are refused. Null: the proxy's own limit. */
export const requestSizes = z.strictObject({
  /** Request target and header lines. More than `MOST_SHARED_HEADER_BYTES` needs a dedicated proxy. */
  headerBytes: z.number().int().min(1024).max(65_536).nullable().default(null),
  /** Up to 1 TiB. */
  bodyBytes: z
    .number()
    .int()
    .min(1)
    .max(2 ** 40)
    .nullable()
    .default(null),
})
export type RequestSizes = z.infer<typeof requestSizes>

/** Settings of the load balancers of a class. They cannot change while a load balancer uses the class. */
export const classSettings = z.strictObject({
  nodeGroupId: offerShape.nodeGroupId,
  /** Limit of simultaneous connections of each listener. Null: unlimited. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable(),
  /** Defaults for monitors of the native API; other APIs always send all settings. Null: `USUAL_MONITOR`. */
  monitor: monitorDefaults.nullable(),
  /**
   * Each of its load balancers has a proxy process of its own on each node. Absent: all load balancers of a network
   * share one.
   */
  dedicatedProxy: dedicatedProxy.optional(),
  /** Absent: the proxy's own limits. */
  requestSizes: requestSizes.optional(),
})
export type ClassSettings = z.infer<typeof classSettings>

/** Whether the proxies of the class's load balancers can hold headers of the size that the class allows. */
export const hasHeaderRoom = ({
  requestSizes: sizes,
  dedicatedProxy: own,
}: Pick<ClassSettings, 'requestSizes' | 'dedicatedProxy'>): boolean =>
  own !== undefined || (sizes?.headerBytes ?? 0) <= MOST_SHARED_HEADER_BYTES

/**
 * A kind of load balancer that tenants choose by name: a flavor in Octavia's terms, a `loadBalancerClass` in those of
 * Kubernetes.
 */
export const loadBalancerClass = z.strictObject({
  ...offerShape,
  ...classSettings.shape,
  /**
   * Projects that may choose it. Absent: all. A class gives them access to its node group even if that is closed to
   * them.
   */
  projectIds: z.array(uuid).max(10_000).optional(),
})
export type LoadBalancerClass = z.infer<typeof loadBalancerClass>

export const zoneSettings = z.strictObject({
  nodeGroupId: offerShape.nodeGroupId,
  /** Ids of the networks and address pools that the first VIP may come from. Absent: all. */
  vipNetworkIds: z.array(uuid).max(1000).optional(),
})
export type ZoneSettings = z.infer<typeof zoneSettings>

/** An availability zone, which load balancers of the Octavia API choose by name. It cannot change while one uses it. */
export const availabilityZone = z.strictObject({ ...offerShape, ...zoneSettings.shape })
export type AvailabilityZone = z.infer<typeof availabilityZone>

/**
 * A flavor profile or zone profile of the Octavia API: settings as text. It cannot change while an offer refers to it.
 */
export const octaviaProfile = z.strictObject({
  ...metaShape,
  of: z.enum(['loadBalancerClass', 'availabilityZone']),
  provider: z.string().max(255),
  /** A JSON object. */
  data: z.string().max(4096),
})
export type OctaviaProfile = z.infer<typeof octaviaProfile>
