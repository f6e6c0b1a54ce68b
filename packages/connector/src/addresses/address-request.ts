import type { IpFamily } from '@spout/kube'

export type Family = 4 | 6

export interface FamilyRequest {
  readonly family: Family
  /** If true, the object stays pending without an address of this family. */
  readonly required: boolean
  /** The requested address in canonical text; null accepts any. */
  readonly address: string | null
}

/** Which addresses an object requests, the primary family first. */
export interface AddressRequest {
  readonly families: readonly FamilyRequest[]
  /** Names of the pools it may come from; null allows any. */
  readonly pools: readonly string[] | null
  /** Name or id of the load balancer's class. Absent: none. Only objects of one class can share an address. */
  readonly loadBalancerClass?: string
}

export const FAMILY_OF: Readonly<Record<IpFamily, Family>> = { IPv4: 4, IPv6: 6 }

/** The fields of the object in which its user requests addresses. Refusals name them. */
export interface AddressFields {
  readonly addresses: string
  readonly pools: string
  readonly families: string
  /** The field that names a class. */
  readonly loadBalancerClass: string
}
