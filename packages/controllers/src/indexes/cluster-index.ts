import type { ModelView } from '@spout/admission/contract'
import {
  defaultGroupOf,
  isProxied,
  isTracked,
  type LoadBalancer,
  type LoadBalancerClass,
  type Node,
  type NodeGroup,
} from '@spout/model'
import { certificatesNamed, ReferenceUsers } from '@spout/plan'
import { KeySets } from './key-sets.ts'

/** The id of the default group while there is no group. */
const NO_GROUP = ''

/**
 * Indexes the relations between objects, so that the load balancers and networks that a change affects are found
 * without a search. Callers pass the ids of changed objects; the index reads the objects from the view.
 */
export class ClusterIndex {
  readonly #view: ModelView
  readonly #byGroup = new KeySets()
  readonly #byNetwork = new KeySets()
  readonly #nodesByGroup = new KeySets()
  /** network id -> its load balancers with a proxied listener at an address of the network itself */
  readonly #byInnerProxy = new KeySets()
  /** network id -> its load balancers with a listener whose connections the kernel tracks */
  readonly #byTracked = new KeySets()
  /** network id -> its load balancers that have listeners, none of them tracked */
  readonly #byUntracked = new KeySets()
  /** `<network id> <group id>` -> the group's load balancers in the network */
  readonly #byPlace = new KeySets()
  readonly #byCertificate = new ReferenceUsers()
  readonly #bySecurityGroup = new ReferenceUsers()
  /** network id -> groups that carry its load balancers */
  readonly #groupsOf = new Map<string, Set<string>>()
  #defaultGroupId: string | null = null

  constructor(view: ModelView) {
    this.#view = view
  }

  /** @returns whether another group became the default */
  groupsChanged(): boolean {
    const id = defaultGroupOf(this.#view.list('nodeGroup'))?.id ?? null
    const changed = id !== this.#defaultGroupId
    this.#defaultGroupId = id
    return changed
  }

  nodeChanged(id: string): void {
    this.#nodesByGroup.set(id, this.#view.get('node', id)?.value.nodeGroupId ?? null)
  }

  loadBalancerChanged(id: string): void {
    const loadBalancer = this.#view.get('loadBalancer', id)?.value
    const groupId = loadBalancer === undefined ? null : this.groupIdOf(loadBalancer)
    const networkId = loadBalancer?.networkId ?? null
    const groupIds = loadBalancer?.securityGroupIds ?? []
    this.#byCertificate.replace(id, loadBalancer === undefined ? [] : certificatesNamed(loadBalancer).map(idOf))
    this.#bySecurityGroup.replace(id, groupIds)
    this.#byGroup.set(id, groupId)
    this.#byNetwork.set(id, networkId)
    this.#byInnerProxy.set(id, loadBalancer !== undefined && hasInnerProxy(loadBalancer) ? networkId : null)
    const listeners = loadBalancer?.listeners ?? []
    const limit = loadBalancer === undefined ? null : (this.classOf(loadBalancer)?.connectionLimit ?? null)
    const isChecked = limit !== null || groupIds.length > 0
    const hasTracked = listeners.some((listener) => isChecked || isTracked(listener))
    this.#byTracked.set(id, hasTracked ? networkId : null)
    this.#byUntracked.set(id, listeners.length > 0 && !hasTracked ? networkId : null)
    const before = this.#byPlace.keyOf(id)
    const place = groupId === null || networkId === null ? null : `${networkId} ${groupId}`
    this.#byPlace.set(id, place)
    for (const changed of [before, place]) if (changed !== null) this.#placeChanged(changed)
  }

  groupIdOf({ nodeGroupId }: Pick<LoadBalancer, 'nodeGroupId'>): string {
    return nodeGroupId ?? this.#defaultGroupId ?? NO_GROUP
  }

  /** The load balancer's class; null if it has none. A class cannot change while a load balancer uses it. */
  classOf({ classId }: Pick<LoadBalancer, 'classId'>): LoadBalancerClass | null {
    return this.#view.get('loadBalancerClass', classId ?? '')?.value ?? null
  }

  /** Null: there is no group with this id. */
  group(id: string): NodeGroup | null {
    return this.#view.get('nodeGroup', id)?.value ?? null
  }

  nodesOf(groupId: string): readonly Node[] {
    return [...this.#nodesByGroup.of(groupId)].sort().flatMap((id) => this.#view.get('node', id)?.value ?? [])
  }

  groupOfNode(nodeId: string): string | null {
    return this.#nodesByGroup.keyOf(nodeId)
  }

  loadBalancersOfGroup(groupId: string): ReadonlySet<string> {
    return this.#byGroup.of(groupId)
  }

  loadBalancersOfNetwork(networkId: string): ReadonlySet<string> {
    return this.#byNetwork.of(networkId)
  }

  loadBalancersOfCertificate(certificateId: string): ReadonlySet<string> {
    return this.#byCertificate.of(certificateId)
  }

  loadBalancersOfSecurityGroup(groupId: string): ReadonlySet<string> {
    return this.#bySecurityGroup.of(groupId)
  }

  /** Whether a VIP of the network itself leads to a proxy. */
  hasInnerProxy(networkId: string): boolean {
    return this.#byInnerProxy.of(networkId).size > 0
  }

  /** Whether no listener in the network needs connection tracking. False without listeners. */
  isUntracked(networkId: string): boolean {
    return this.#byUntracked.of(networkId).size > 0 && this.#byTracked.of(networkId).size === 0
  }

  /** Ids of the networks whose load balancers this group carries. */
  networksOfGroup(groupId: string): readonly string[] {
    return [...this.#groupsOf].flatMap(([networkId, groups]) => (groups.has(groupId) ? [networkId] : []))
  }

  /** Ids of the groups that carry load balancers of this network, sorted. */
  groupsOfNetwork(networkId: string): readonly string[] {
    return [...(this.#groupsOf.get(networkId) ?? [])].sort()
  }

  #placeChanged(place: string): void {
    const [networkId = '', groupId = ''] = place.split(' ')
    const groups = this.#groupsOf.get(networkId) ?? new Set()
    if (this.#byPlace.of(place).size > 0) groups.add(groupId)
    else groups.delete(groupId)
    if (groups.size > 0) this.#groupsOf.set(networkId, groups)
    else this.#groupsOf.delete(networkId)
  }
}

const idOf = ({ id }: { readonly id: string }): string => id

const hasInnerProxy = ({ vips, listeners }: LoadBalancer): boolean =>
  vips.some(({ scope }) => scope === 'tenant') && listeners.some(({ protocol }) => isProxied(protocol))
