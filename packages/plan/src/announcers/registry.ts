import {
  ANNOUNCER_WITHOUT_GROUP,
  type Announce,
  type AnnouncerName,
  announcerInUse,
  announcerNamed,
  type BgpAdvertisementIntent,
  DEFAULT_ANNOUNCER,
  hasShards,
  type NodeGroup,
} from '@spout/model'
import type { AnnouncedVip, AnnouncerPart, AnnouncerPlanner, AnnouncerStatus } from './announcer-planner.ts'
import { bgpPlanner } from './bgp/planner.ts'
import type { GroupPlanInput } from './group-plan-input.ts'
import { l2Planner } from './l2/planner.ts'
import { vrrpPlanner } from './vrrp/planner.ts'

/** The planner of each announcer. A new one is a name in this line. */
const BY_NAME = { l2: l2Planner, vrrp: vrrpPlanner, bgp: bgpPlanner }

type TermsOf = { readonly [N in AnnouncerName]: ReturnType<(typeof BY_NAME)[N]['terms']> }
const PLANNERS: { readonly [N in AnnouncerName]: AnnouncerPlanner<TermsOf[N]> } = BY_NAME

/** The facts that all announcements of a group share; `via` names the announcer. Plain data. */
export type AnnounceTerms = TermsOf[AnnouncerName]

/** The terms of the group that carries a load balancer; null without a group. */
export function announceTerms(
  group: NodeGroup | null,
  advertisements: readonly BgpAdvertisementIntent[],
): AnnounceTerms {
  if (group === null) return PLANNERS[ANNOUNCER_WITHOUT_GROUP].terms(null, advertisements)
  return PLANNERS[announcerInUse(group)].terms(group, advertisements)
}

/** As `AnnouncerPlanner.announce`. */
export function announceVip<N extends AnnouncerName>(
  terms: TermsOf[N] & { readonly via: N },
  vip: AnnouncedVip,
  shard: number | null,
): Announce {
  return PLANNERS[terms.via].announce(terms, vip, shard)
}

/**
 * As `AnnouncerPlanner.announceInside`. While a group changes between announcers with and without shards, an address is
 * announced by the kind of announcer that it was placed for.
 * @param announcer of the group; undefined: there is no group
 * @param shard the shard that the address was placed in; null: none
 */
export function announceInside(announcer: AnnouncerName | undefined, shard: number | null): Announce {
  const placed = shard === null ? ANNOUNCER_WITHOUT_GROUP : DEFAULT_ANNOUNCER
  const fits = announcer !== undefined && hasShards({ announcer }) === (shard !== null)
  return PLANNERS[fits ? announcer : placed].announceInside(shard)
}

/** The nodes' parts in their group, by node id, one map for each announcer that the group uses. */
export function announcerParts(input: GroupPlanInput): readonly ReadonlyMap<string, AnnouncerPart>[] {
  return namesInUse(input.group).flatMap((one) => PLANNERS[one].parts?.(input) ?? [])
}

/** Whether a node with this status could announce the addresses that another node of the group gives up. */
export const canTakeOver = (group: NodeGroup, status: AnnouncerStatus): boolean =>
  namesInUse(group).every((one) => PLANNERS[one].canTakeOver?.(status) ?? true)

function namesInUse(group: NodeGroup): readonly AnnouncerName[] {
  const name = announcerInUse(group)
  const { electedBy } = announcerNamed(name)
  return [...new Set(electedBy === null ? [name] : [electedBy, name])]
}
