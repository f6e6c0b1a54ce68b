import { cidrContains, parseCidr, parseIp } from '@spout/net'
import type { Attributes } from '@spout/octavia-client'
import type { ProfileKind } from './kinds.ts'

/** A place for addresses: a subnet of a project, or a pool of public addresses. */
export interface AddressPlace {
  readonly id: string
  readonly name: string
  readonly cidr: string
  /** Projects that may use it; null: all. */
  readonly projectIds: readonly string[] | null
  /** Members are in subnets alone. */
  readonly kind: 'subnet' | 'pool'
}

/** What Spout has that objects of the other cloud name. */
export interface Destination {
  readonly projects: readonly { readonly id: string; readonly name: string }[]
  readonly places: readonly AddressPlace[]
  readonly certificateIds: ReadonlySet<string>
  readonly flavorIds: ReadonlySet<string>
  readonly zoneNames: ReadonlySet<string>
  /** The usual one first. */
  readonly providers: ReadonlySet<string>
  /** What profiles may say. */
  readonly profileKeys: Readonly<Record<ProfileKind, ReadonlySet<string>>>
  /** Names and ids. */
  readonly nodeGroups: ReadonlySet<string>
  /** Of networks and address pools. */
  readonly networkIds: ReadonlySet<string>
  /** Projects of security groups. */
  readonly groupProjects: ReadonlyMap<string, string>
  /** Limits of a project without a quota. */
  readonly usualLimits: Attributes
}

/** Places of a project that contain an address. */
export function placesOf(
  { places }: Destination,
  projectId: string,
  address: string,
  kinds: readonly AddressPlace['kind'][],
): readonly AddressPlace[] {
  const ip = parseIp(address)
  return places.filter(
    ({ kind, projectIds, cidr }) =>
      kinds.includes(kind) &&
      (projectIds === null || projectIds.includes(projectId)) &&
      cidrContains(parseCidr(cidr), ip),
  )
}
