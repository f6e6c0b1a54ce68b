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
  /** Members have addresses only in subnets. */
  readonly kind: 'subnet' | 'pool'
}

/** What exists in Spout and may be named by objects of the other cloud. */
export interface Destination {
  readonly projects: readonly { readonly id: string; readonly name: string }[]
  readonly places: readonly AddressPlace[]
  readonly certificateIds: ReadonlySet<string>
  readonly flavorIds: ReadonlySet<string>
  readonly zoneNames: ReadonlySet<string>
  /** The default provider comes first. */
  readonly providers: ReadonlySet<string>
  /** The keys that a profile of each kind may have. */
  readonly profileKeys: Readonly<Record<ProfileKind, ReadonlySet<string>>>
  /** Names and ids of node groups. */
  readonly nodeGroups: ReadonlySet<string>
  /** Ids of networks and address pools. */
  readonly networkIds: ReadonlySet<string>
  /** The project of each security group, by the id of the group. */
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
