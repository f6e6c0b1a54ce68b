import type { AnnouncerDescriptor } from './announcer.ts'
import { type BgpAnnounce, type BgpPart, bgp } from './bgp.ts'
import { type L2Announce, l2 } from './l2.ts'
import { type VrrpAnnounce, type VrrpPart, vrrp } from './vrrp.ts'

/** All announcers. A new one is a file beside this one and a name in each of these three lines. */
const DESCRIPTORS = [l2, vrrp, bgp] as const
export type Announce = L2Announce | VrrpAnnounce | BgpAnnounce
/**
 * The announcers' fields of `GroupEntry`. A new announcer's field is optional, so that existing entries keep their
 * hash.
 */
export type AnnouncerParts = VrrpPart & BgpPart

/** The descriptors with their literal types: names, and schemas of settings. */
export type KnownDescriptor = (typeof DESCRIPTORS)[number]
export type AnnouncerName = KnownDescriptor['name']
type Descriptor = AnnouncerDescriptor & { readonly name: AnnouncerName; readonly electedBy: AnnouncerName | null }

export const ANNOUNCERS: readonly Descriptor[] = DESCRIPTORS
export const ANNOUNCER_NAMES: readonly AnnouncerName[] = DESCRIPTORS.map(({ name }) => name)

/** The announcer of a group that is created without one. */
export const DEFAULT_ANNOUNCER: AnnouncerName = vrrp.name
/** The announcer of a load balancer without a node group. */
export const ANNOUNCER_WITHOUT_GROUP: AnnouncerName = l2.name

const BY_NAME: ReadonlyMap<string, Descriptor> = new Map(ANNOUNCERS.map((one) => [one.name, one]))

export const announcerNamed = (name: AnnouncerName): Descriptor => BY_NAME.get(name)!

/** Looks up a name that may come from a server of another version. */
export const findAnnouncer = (name: string): Descriptor | undefined => BY_NAME.get(name)

type Group = { readonly announcer: AnnouncerName }

/** Whether the group's VIPs are in shards, whose masters its nodes elect. */
export const hasShards = ({ announcer }: Group): boolean => announcerNamed(announcer).electedBy !== null

/** Whether every node of the group announces the same VIP at once, unless one node must carry it alone. */
export const isAnnouncedByEveryNode = ({ announcer }: Group): boolean =>
  announcerNamed(announcer).announcedBy === 'every-node'

/** `l2 and vrrp on the segment, bgp to routers`. */
export const announcersInWords = (): string =>
  [...Map.groupBy(ANNOUNCERS, ({ place }) => place)].map(([place, all]) => `${listed(all, 'and')} ${place}`).join(', ')

/** `l2, vrrp or bgp`. */
export const announcerNamesInWords = (): string => listed(ANNOUNCERS, 'or')

function listed(announcers: readonly Descriptor[], last: 'and' | 'or'): string {
  const names = announcers.map(({ name }) => name)
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${last} ${names.at(-1)}`
}
