import { z } from 'zod'
import { healthMonitor } from '../health-checks/health-monitor.ts'
import { metaShape, uuid } from '../scalars/scalars.ts'

/** Fields of an offer: an administrator makes it, and a new load balancer may name it. */
const offerShape = {
  ...metaShape,
  /** False: no new load balancer may name it. Existing ones keep it. */
  enabled: z.boolean(),
  /** The node group that carries its load balancers; null: the offer does not choose one. */
  nodeGroupId: uuid.nullable(),
  /** The `OctaviaProfile` from which its settings were read; absent: none. */
  profileId: uuid.optional(),
} as const

/** Defaults for the settings that a health monitor leaves out. */
export const monitorDefaults = healthMonitor
  .pick({ intervalMs: true, timeoutMs: true, rise: true, fall: true })
  .extend({ timeoutMs: healthMonitor.shape.timeoutMs.nullable() })
export type MonitorDefaults = z.infer<typeof monitorDefaults>

/** The defaults without a class. `timeoutMs` null: 800 ms, or the interval if that is shorter. */
export const USUAL_MONITOR: MonitorDefaults = { intervalMs: 1000, timeoutMs: null, rise: 2, fall: 3 }

/**
 * Limits of the proxy process that a load balancer has for itself on each node. A limit that is absent is that of
 * shared proxies.
 */
export const dedicatedProxy = z.strictObject({
  memoryMegabytes: z.number().int().min(32).max(65_536).optional(),
  /** Processor time in processors: 0.5 is half of one. */
  processors: z.number().min(0.05).max(64).optional(),
  /** Connections at once; more wait. */
  connections: z.number().int().min(100).max(1_000_000).optional(),
})
export type DedicatedProxy = z.infer<typeof dedicatedProxy>

/** What a proxy that load balancers share has room for in `requestSizes.headerBytes`. */
export const MOST_SHARED_HEADER_BYTES = 12_288

/** Requests of HTTP listeners that are larger are refused. Null: as large as the proxy takes. */
export const requestSizes = z.strictObject({
  /** The target of the request and its header lines; more than `MOST_SHARED_HEADER_BYTES` needs a dedicated proxy. */
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
  /** Connections at once of each of their listeners at most; null: unlimited. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable(),
  /** For monitors of the native API. Requests of other APIs contain all settings. Null: the usual defaults. */
  monitor: monitorDefaults.nullable(),
  /**
   * Each of its load balancers has a proxy process of its own on each node. Absent: all load balancers of a network
   * share one.
   */
  dedicatedProxy: dedicatedProxy.optional(),
  /** Absent: as large as the proxy takes. */
  requestSizes: requestSizes.optional(),
})
export type ClassSettings = z.infer<typeof classSettings>

/** Whether the proxies of these load balancers have room for headers of the size that the class allows. */
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
  /** Projects that may choose it; absent: all. By it they reach its node group even if that is closed to them. */
  projectIds: z.array(uuid).max(10_000).optional(),
})
export type LoadBalancerClass = z.infer<typeof loadBalancerClass>

/** Whether load balancers of this project may use the class. */
export const mayUseClass = ({ projectIds }: Pick<LoadBalancerClass, 'projectIds'>, projectId: string | null): boolean =>
  projectIds === undefined || (projectId !== null && projectIds.includes(projectId))

export const zoneSettings = z.strictObject({
  nodeGroupId: offerShape.nodeGroupId,
  /** Networks and address pools that the first VIP may be from; absent: all. */
  vipNetworkIds: z.array(uuid).max(1000).optional(),
})
export type ZoneSettings = z.infer<typeof zoneSettings>

/** An availability zone, which Octavia's load balancers choose by name. It cannot change while one uses it. */
export const availabilityZone = z.strictObject({ ...offerShape, ...zoneSettings.shape })
export type AvailabilityZone = z.infer<typeof availabilityZone>

/** A profile of Octavia's API: settings of a class or a zone, as text. It cannot change while one was made from it. */
export const octaviaProfile = z.strictObject({
  ...metaShape,
  of: z.enum(['loadBalancerClass', 'availabilityZone']),
  provider: z.string().max(255),
  /** A JSON object. */
  data: z.string().max(4096),
})
export type OctaviaProfile = z.infer<typeof octaviaProfile>
