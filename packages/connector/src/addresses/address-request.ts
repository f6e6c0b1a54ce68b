import type { IpFamily } from '@spout/kube'

export type Family = 4 | 6

export interface FamilyRequest {
  readonly family: Family
  /** Whether the object is pending without it. */
  readonly required: boolean
  /** Exactly this address, canonical; null leaves the choice. */
  readonly address: string | null
}

/** What addresses an object wants, the primary family first. */
export interface AddressRequest {
  readonly families: readonly FamilyRequest[]
  /** Names of the pools it may come from; null leaves the choice. */
  readonly pools: readonly string[] | null
}

export const FAMILY_OF: Readonly<Record<IpFamily, Family>> = { IPv4: 4, IPv6: 6 }

/** The fields of the object where its user says which addresses he wants: for refusals. */
export interface AddressFields {
  readonly addresses: string
  readonly pools: string
  readonly families: string
}
