import {
  type AvailabilityZone,
  availabilityZone,
  dedicatedProxy,
  type LoadBalancerClass,
  loadBalancerClass,
  monitorDefaults,
  type OctaviaProfile,
  octaviaProfile,
  requestSizes,
  uuid,
} from '@spout/model'
import { z } from 'zod'

const meta = { id: true, createdAt: true, updatedAt: true } as const
/** For an object that moves here from another system. */
const chosenId = uuid.optional()

export const loadBalancerClassDraft = loadBalancerClass.omit(meta).extend({
  id: chosenId,
  name: loadBalancerClass.shape.name.min(1),
  description: loadBalancerClass.shape.description.default(''),
  enabled: loadBalancerClass.shape.enabled.default(true),
  nodeGroupId: loadBalancerClass.shape.nodeGroupId.default(null),
  connectionLimit: loadBalancerClass.shape.connectionLimit.default(null),
  /** Settings that it leaves out have the usual defaults. */
  monitor: monitorDefaults.partial().nullable().default(null),
  /** Null: its load balancers share a proxy. */
  dedicatedProxy: dedicatedProxy.nullable().default(null),
  /** Null: as large as the proxy accepts. */
  requestSizes: requestSizes.nullable().default(null),
  /** Null opens it to all projects. */
  projectIds: loadBalancerClass.shape.projectIds.unwrap().nullable().default(null),
})
export type LoadBalancerClassDraft = z.input<typeof loadBalancerClassDraft>
const withoutDefaults = {
  headerBytes: requestSizes.shape.headerBytes.unwrap(),
  bodyBytes: requestSizes.shape.bodyBytes.unwrap(),
}

/** Fields that are absent keep their values, those of `monitor`, `dedicatedProxy` and `requestSizes` too. */
export const loadBalancerClassChange = z
  .strictObject({
    name: loadBalancerClass.shape.name.min(1),
    description: loadBalancerClass.shape.description,
    enabled: loadBalancerClass.shape.enabled,
    nodeGroupId: loadBalancerClass.shape.nodeGroupId,
    connectionLimit: loadBalancerClass.shape.connectionLimit,
    monitor: monitorDefaults.partial().nullable(),
    dedicatedProxy: dedicatedProxy.nullable(),
    requestSizes: z.strictObject(withoutDefaults).partial().nullable(),
    projectIds: loadBalancerClass.shape.projectIds.unwrap().nullable(),
  })
  .partial()
export type LoadBalancerClassChange = z.input<typeof loadBalancerClassChange>

export const availabilityZoneDraft = availabilityZone.omit(meta).extend({ name: availabilityZone.shape.name.min(1) })
export type AvailabilityZoneDraft = z.input<typeof availabilityZoneDraft>
export type AvailabilityZoneChange = Partial<Pick<AvailabilityZone, 'description' | 'enabled'>>

export const octaviaProfileDraft = octaviaProfile.omit(meta).extend({ id: chosenId })
export type OctaviaProfileDraft = z.input<typeof octaviaProfileDraft>
export type OctaviaProfileChange = Partial<Pick<OctaviaProfile, 'name' | 'provider' | 'data'>>

/**
 * Writes of what load balancers may be made of. While load balancers are of a class or in a zone, only its name, its
 * texts and who may choose it change: InUse.
 */
export interface OfferAdmission {
  createLoadBalancerClass(draft: LoadBalancerClassDraft): Promise<LoadBalancerClass>
  changeLoadBalancerClass(id: string, change: LoadBalancerClassChange): Promise<LoadBalancerClass>
  /** @throws SpoutError InUse */
  deleteLoadBalancerClass(id: string): Promise<void>
  createAvailabilityZone(draft: AvailabilityZoneDraft): Promise<AvailabilityZone>
  changeAvailabilityZone(id: string, change: AvailabilityZoneChange): Promise<AvailabilityZone>
  /** @throws SpoutError InUse */
  deleteAvailabilityZone(id: string): Promise<void>
  createOctaviaProfile(draft: OctaviaProfileDraft): Promise<OctaviaProfile>
  /** Provider and data stay while a class or a zone was made of it: InUse. */
  changeOctaviaProfile(id: string, change: OctaviaProfileChange): Promise<OctaviaProfile>
  /** @throws SpoutError InUse */
  deleteOctaviaProfile(id: string): Promise<void>
}
