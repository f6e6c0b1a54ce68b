import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { type AddressedObject, PROJECT, shownAddresses, uidOf } from '../objects.ts'
import type { Refusal } from '../refusal.ts'
import type { Ruling } from './project-rules.ts'

/** A project that objects may be of. */
export interface TenantProject {
  /** As the rules call it. */
  readonly name: string
  /** Null while the control plane has not said whose credential it is. */
  readonly id: string | null
  /** Its load balancers of this cluster that name an object; null while they were not read. */
  readonly ofUid: ((uid: string) => readonly ShownLoadBalancer[]) | null
}

/** Who balances an object. */
export type Assignment =
  /** `kept`: it has its load balancer there, although its namespace is another project's now, or none's. */
  | { readonly type: 'project'; readonly project: string; readonly kept: 'moved' | 'unruled' | null }
  /** Nobody, and why. */
  | { readonly type: 'nobody'; readonly refusal: Refusal; readonly isElsewhere: boolean }
  /** Not to be said before more was read: it is left as it is. */
  | { readonly type: 'unknown' }

const UNKNOWN: Assignment = { type: 'unknown' }

/**
 * The one project of an object. Its namespace says which, but an object that has a load balancer stays with the project of
 * that: an address cannot go along. That it has one there must be said by both sides, the load balancer, which names the
 * object's UID and only that project can write, and the object, by our annotation or by the address it shows. So neither
 * who may write the object nor who may write load balancers of a project can take it alone.
 *
 * @param leaves whether it is being deleted, or no load balancer any more
 */
export function assign(
  object: AddressedObject,
  ruling: Ruling,
  projects: readonly TenantProject[],
  leaves: boolean,
): Assignment {
  const holds = ({ ofUid }: TenantProject): boolean => (ofUid?.(uidOf(object)).length ?? 0) > 0
  const isOf = ({ name }: TenantProject): Assignment => ({ type: 'project', project: name, kept: keptBy(name, ruling) })
  const claimedId = object.metadata.annotations?.[PROJECT] ?? ''
  const claimed = projects.find(({ id }) => id !== null && id === claimedId)
  const ruled = ruling.type === 'project' ? projects.find(({ name }) => name === ruling.project) : undefined
  if (claimed !== undefined && holds(claimed)) return isOf(claimed)
  if (ruled !== undefined && holds(ruled)) return isOf(ruled)
  if (claimedId !== '') {
    if (claimed === undefined) return projects.some(({ id }) => id === null) ? UNKNOWN : elsewhere(claimedId)
    if (claimed.ofUid === null) return UNKNOWN
    // Who took its load balancer down takes finalizer and mark off too.
    if (leaves) return isOf(claimed)
  } else if (shownAddresses(object).length > 0) {
    // Balanced before there were rules.
    const keeper = projects.find((project) => holds(project) && showsOneOf(object, project))
    if (keeper !== undefined) return isOf(keeper)
    if (projects.some(({ ofUid }) => ofUid === null)) return UNKNOWN
  }
  if (ruling.type === 'unknown') return UNKNOWN
  if (ruling.type === 'none') return ofNobody(object)
  return ruled === undefined || ruled.ofUid === null ? UNKNOWN : isOf(ruled)
}

function keptBy(project: string, ruling: Ruling): 'moved' | 'unruled' | null {
  if (ruling.type === 'unknown') return null
  if (ruling.type === 'none') return 'unruled'
  return ruling.project === project ? null : 'moved'
}

function showsOneOf(object: AddressedObject, { ofUid }: TenantProject): boolean {
  const shown = shownAddresses(object)
  const held = ofUid?.(uidOf(object)) ?? []
  return held.some(({ document }) => document.vips.some(({ address }) => shown.includes(address)))
}

const elsewhere = (projectId: string): Assignment => ({
  type: 'nobody',
  isElsewhere: true,
  refusal: {
    reason: 'ProjectNotConfigured',
    field: `metadata.annotations[${PROJECT}]`,
    message: `Its load balancer is of project ${projectId.slice(0, 64).replaceAll(/[^\x20-\x7e]/g, '?')}, which the connector has no rule for: it stays as it is.`,
  },
})

const ofNobody = ({ metadata }: AddressedObject): Assignment => ({
  type: 'nobody',
  isElsewhere: false,
  refusal: {
    reason: 'NoProject',
    field: 'metadata.namespace',
    message: `Namespace "${metadata.namespace ?? ''}" is of no project that the connector balances for.`,
  },
})
