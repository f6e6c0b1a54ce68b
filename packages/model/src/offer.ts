import { z } from 'zod'
import { healthMonitor } from './health-monitor.ts'
import { metaShape, uuid } from './scalars.ts'

/** Fields of what an administrator offers and a new load balancer may name. */
const offerShape = {
  ...metaShape,
  /** Disabled: no new load balancer may name it. Those that do stay. */
  enabled: z.boolean(),
  /** The node group that carries its load balancers; null: it does not say. */
  nodeGroupId: uuid.nullable(),
  /** The `OctaviaProfile` that its settings were read from; absent: it was made with them. */
  profileId: uuid.optional(),
} as const

/** How monitors are made that do not say; null: as everywhere. */
export const monitorDefaults = healthMonitor
  .pick({ intervalMs: true, timeoutMs: true, rise: true, fall: true })
  .extend({ timeoutMs: healthMonitor.shape.timeoutMs.nullable() })
export type MonitorDefaults = z.infer<typeof monitorDefaults>

/** For monitors that leave all to us. `timeoutMs` null: 800 ms, or the interval if that is shorter. */
export const USUAL_MONITOR: MonitorDefaults = { intervalMs: 1000, timeoutMs: null, rise: 2, fall: 3 }

/**
 * Limits of the proxy process that a load balancer has for itself on each node. Absent: those of the proxies that
 * others share.
 */
export const dedicatedProxy = z.strictObject({
  memoryMegabytes: z.number().int().min(32).max(65_536).optional(),
  /** Processor time in processors: 0.5 is half of one. */
  processors: z.number().min(0.05).max(64).optional(),
  /** Connections at once; more wait. */
  connections: z.number().int().min(100).max(1_000_000).optional(),
})
export type DedicatedProxy = z.infer<typeof dedicatedProxy>

/** What decides about the load balancers of a class. It stays while one has it. */
export const classSettings = z.strictObject({
  nodeGroupId: offerShape.nodeGroupId,
  /** Connections at once of each of their listeners at most; null: unlimited. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable(),
  /** For monitors of the native API; those of other APIs say everything. */
  monitor: monitorDefaults.nullable(),
  /**
   * Each of its load balancers has a proxy process of its own on each node. Absent: they share the one of their network
   * with others.
   */
  dedicatedProxy: dedicatedProxy.optional(),
})
export type ClassSettings = z.infer<typeof classSettings>

/**
 * A kind of load balancer that tenants choose by name: a flavor in Octavia's terms, a `loadBalancerClass` in those of
 * Kubernetes.
 */
export const loadBalancerClass = z.strictObject({
  ...offerShape,
  ...classSettings.shape,
  /** Projects that may choose it; absent: all. Its node group may be closed to them otherwise. */
  projectIds: z.array(uuid).max(10_000).optional(),
})
export type LoadBalancerClass = z.infer<typeof loadBalancerClass>

/** Whether a load balancer of this project may be of the class. */
export const mayUseClass = ({ projectIds }: Pick<LoadBalancerClass, 'projectIds'>, projectId: string | null): boolean =>
  projectIds === undefined || (projectId !== null && projectIds.includes(projectId))

export const zoneSettings = z.strictObject({
  nodeGroupId: offerShape.nodeGroupId,
  /** Networks and address pools that the first VIP may be from; absent: all. */
  vipNetworkIds: z.array(uuid).max(1000).optional(),
})
export type ZoneSettings = z.infer<typeof zoneSettings>

/** A place of Octavia's API that load balancers choose by name. It stays as it is while one is in it. */
export const availabilityZone = z.strictObject({ ...offerShape, ...zoneSettings.shape })
export type AvailabilityZone = z.infer<typeof availabilityZone>

/** The text that settings of a class or a zone were given as in Octavia's API. It stays while one has been read from it. */
export const octaviaProfile = z.strictObject({
  ...metaShape,
  of: z.enum(['loadBalancerClass', 'availabilityZone']),
  provider: z.string().max(255),
  /** A JSON object. */
  data: z.string().max(4096),
})
export type OctaviaProfile = z.infer<typeof octaviaProfile>
