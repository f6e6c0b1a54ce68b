import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { type AddressedObject, PROJECT, shownAddresses, uidOf } from '../objects.ts'
import type { Refusal } from '../refusal.ts'
import type { Ruling } from './project-rules.ts'

/** A project that can own objects. */
export interface TenantProject {
  /** Its name in the rules. */
  readonly name: string
  /** Null until the control plane has named the credential's project. */
  readonly id: string | null
  /** Its load balancers of this cluster that name an object; null until they are read. */
  readonly ofUid: ((uid: string) => readonly ShownLoadBalancer[]) | null
}

/** Which project balances an object. */
export type Assignment =
  /** `kept`: its load balancer is there, although its namespace now belongs to another project or to none. */
  | { readonly type: 'project'; readonly project: string; readonly kept: 'moved' | 'unruled' | null }
  /** No project balances it, for this reason. */
  | { readonly type: 'nobody'; readonly refusal: Refusal; readonly isElsewhere: boolean }
  /** Undecided until more is read: the object is left as it is. */
  | { readonly type: 'unknown' }

const UNKNOWN: Assignment = { type: 'unknown' }

/**
 * Decides the one project of an object. Its namespace names the project, but an object with a load balancer stays in
 * that load balancer's project, because an address cannot move. Both sides must confirm it: the load balancer names the
 * object's UID, and only its project can write that; the object has our annotation or shows the address. So neither
 * those who write the object nor those who write load balancers of a project can take it over alone.
 *
 * @param leaves whether it is being deleted, or no longer wants a load balancer
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
    // The project that took its load balancer down also removes finalizer and mark.
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
