import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { type AddressedObject, PROJECT, shownAddresses, uidOf } from '../objects.ts'
import type { Refusal } from '../refusal.ts'
import type { Ruling } from './project-rules.ts'

/** A project that can own objects. */
export interface TenantProject {
  /** Its name in the rules. */
  readonly name: string
  /** Null until the control plane has told the project of the credential. */
  readonly id: string | null
  /** Finds its load balancers of this cluster by the UID of an object; null until they have been read. */
  readonly ofUid: ((uid: string) => readonly ShownLoadBalancer[]) | null
}

/** Which project balances an object. */
export type Assignment =
  /**
   * `kept`: why the object stays in this project although the rules disagree, because its load balancer is there. Its
   * namespace has `moved` to another project, or is `unruled`: of no project now.
   */
  | { readonly type: 'project'; readonly project: string; readonly kept: 'moved' | 'unruled' | null }
  /** No project balances it. `isElsewhere`: it is of a project that the connector does not know. */
  | { readonly type: 'nobody'; readonly refusal: Refusal; readonly isElsewhere: boolean }
  /** Undecided until more is read: the object is left as it is. */
  | { readonly type: 'unknown' }

const UNKNOWN: Assignment = { type: 'unknown' }

/**
 * Decides the project of an object. The rules for its namespace decide, but an object with a load balancer stays in the
 * project of that load balancer, because an address cannot move to another project. Both sides must confirm this: the
 * load balancer names the object's UID, which only its project can write; and the object has our annotation or shows
 * the address. So neither the users of the cluster nor those of another project can take over an object alone.
 *
 * @param leaves whether the object is being deleted, or no longer wants a load balancer
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
    // The project that has deleted its load balancer also removes finalizer and mark.
    if (leaves) return isOf(claimed)
  } else if (shownAddresses(object).length > 0) {
    // It was balanced before there were rules, so it has no annotation.
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
    message: `Its load balancer is of project ${projectId.slice(0, 64).replaceAll(/[^\x20-\x7e]/g, '?')}, for which the connector has no rule: it stays as it is.`,
  },
})

const ofNobody = ({ metadata }: AddressedObject): Assignment => ({
  type: 'nobody',
  isElsewhere: false,
  refusal: {
    reason: 'NoProject',
    field: 'metadata.namespace',
    message: `Namespace "${metadata.namespace ?? ''}" belongs to no project that the connector serves.`,
  },
})
