import { type Address, addressKey, domainsOf, type LoadBalancer, type Network } from '@spout/model'
import { formatIp, type Ip, parseIp } from '@spout/net'
import {
  AddressIndex,
  addUsage,
  certificatesNamed,
  NO_USAGE,
  NumberRuns,
  ReferenceUsers,
  RouteTables,
  subtractUsage,
  type Usage,
  usageOf,
} from '@spout/plan'
import type { Pieces } from '@spout/runtime'
import type { ModelView, ObjectOf } from '../contract/view.ts'
import { DocumentSizes } from './document-sizes.ts'
import { DomainOwners } from './domain-owners.ts'
import { MemberCounts } from './member-counts.ts'
import { COUNTED_KINDS, type CountedKind, isCounted, objectUsage } from './object-usage.ts'

interface Counted {
  readonly projectId: string
  readonly usage: Usage
}

const LAST_NETWORK_NUMBER = 16_000_000n

/** Whether somebody has the address now; otherwise it is in quarantine after its use. */
export const isInUse = (address: Address): boolean => address.quarantineUntil === null

/**
 * The indexes that admission needs across objects, kept up to date from the view: addresses in use per pool and
 * network, what each project uses of its quota, network numbers, members' and nodes' addresses. A lookup costs the same
 * however much is stored.
 */
export class AdmissionIndex {
  /** The tables of routes that were checked last. */
  readonly routeTables = new RouteTables()
  /** The owners of all domains. */
  readonly domainOwners = new DomainOwners()
  /** The owners of domains that the administrator assigned. */
  readonly givenDomains = new DomainOwners()
  readonly #view: ModelView
  readonly #unsubscribe: () => void
  readonly #addresses = new Map<string, Address>()
  readonly #loadBalancers = new Map<string, LoadBalancer>()
  readonly #networks = new Map<string, Network>()
  readonly #counted = new Map<string, Counted>()
  readonly #usage = new Map<string, Usage>()
  readonly #addressIndexes = new Map<string, AddressIndex>()
  readonly #heldBy = new Map<string, Set<string>>()
  readonly #fabric = new Map<string, string>()
  readonly #nodeAddresses = new Map<string, Address>()
  readonly #boundTo = new Map<string, Set<string>>()
  readonly #members = new MemberCounts()
  readonly #sizes = new DocumentSizes()
  readonly #inNetwork = new Map<string, Set<string>>()
  readonly #numbers = new NumberRuns()
  readonly #certificateUsers = new ReferenceUsers()
  readonly #securityGroupUsers = new ReferenceUsers()
  readonly #dnsNameUsers = new ReferenceUsers()
  readonly #localUsers = new ReferenceUsers()
  /** By group and name. */
  readonly #adopted = new ReferenceUsers()
  #nodeFabric: ReadonlySet<string> = new Set()
  #onCounted: (key: string) => void = () => {}
  #addressFacts = 0

  constructor(view: ModelView) {
    this.#view = view
    for (const address of view.list('address')) this.#replaceAddress(address.id, address)
    for (const network of view.list('network')) this.#replaceNetwork(network.id, network)
    for (const loadBalancer of view.list('loadBalancer')) this.#replaceLoadBalancer(loadBalancer.id, loadBalancer)
    for (const project of view.list('project')) this.#replaceProject(project.id, project)
    for (const kind of COUNTED_KINDS) for (const object of view.list(kind)) this.#countObject(kind, object.id, object)
    this.#learnNodes()
    this.#unsubscribe = view.onChange((changed) => {
      if (changed.some(({ kind }) => kind === 'node')) this.#learnNodes()
      if (changed.some(({ kind }) => kind === 'node' || kind === 'address' || kind === 'network'))
        this.#addressFacts += 1
      for (const { kind, id } of changed) {
        if (kind === 'address') this.#replaceAddress(id, this.#view.get(kind, id)?.value ?? null)
        if (kind === 'network') this.#replaceNetwork(id, this.#view.get(kind, id)?.value ?? null)
        if (kind === 'loadBalancer') this.#replaceLoadBalancer(id, this.#view.get(kind, id)?.value ?? null)
        if (kind === 'project') this.#replaceProject(id, this.#view.get(kind, id)?.value ?? {})
        if (isCounted(kind)) this.#countObject(kind, id, this.#view.get(kind, id)?.value ?? null)
      }
    })
  }

  close(): void {
    this.#unsubscribe()
  }

  #replaceProject(id: string, project: Parameters<typeof domainsOf>[0]): void {
    this.domainOwners.replace(id, domainsOf(project))
    this.givenDomains.replace(id, project.domains)
  }

  /** The addresses of an address pool or a network that are in use, held or in quarantine. */
  addressIndex(holderId: string): AddressIndex {
    const known = this.#addressIndexes.get(holderId)
    if (known !== undefined) return known
    const index = new AddressIndex()
    this.#addressIndexes.set(holderId, index)
    return index
  }

  /** Every Address object of a pool or network, including those in quarantine. */
  addressesOf(holderId: string): readonly Address[] {
    return [...(this.#heldBy.get(holderId) ?? [])].flatMap((id) => this.#addresses.get(id) ?? [])
  }

  /** A version number: it differs after each change of an address, a node or a network. */
  get addressFacts(): number {
    return this.#addressFacts
  }

  /** The address of a network if it is in use. */
  addressIn(networkId: string, address: string): Address | null {
    const found = this.#addresses.get(addressKey(networkId, address))
    return found !== undefined && isInUse(found) ? found : null
  }

  /** Whether a public address is in use, by any project. */
  isPublicAddressInUse(address: string): boolean {
    return this.#fabric.has(address) || this.localUsers(address).length > 0
  }

  /** The load balancer that shows what the group's nodes carry by this name of their own settings. */
  adopted(nodeGroupId: string, localName: string): LoadBalancer | null {
    for (const id of this.#adopted.of(`${nodeGroupId} ${localName}`)) return this.#loadBalancers.get(id) ?? null
    return null
  }

  /** The load balancers of nodes' own settings that have this address. */
  localUsers(address: string): readonly LoadBalancer[] {
    return [...this.#localUsers.of(address)].flatMap((id) => this.#loadBalancers.get(id) ?? [])
  }

  isNodeFabricAddress(address: string): boolean {
    return this.#nodeFabric.has(address)
  }

  /** The nodes' addresses on the fabric. */
  nodeFabricAddresses(): Iterable<string> {
    return this.#nodeFabric
  }

  /** The node's own address in a subnet. */
  nodeAddress(nodeId: string, subnetId: string): Address | null {
    return this.#nodeAddresses.get(`${nodeId} ${subnetId}`) ?? null
  }

  /** Floating IPs bound to a port. */
  floatingOf(portId: string): readonly Address[] {
    return [...(this.#boundTo.get(portId) ?? [])].flatMap((id) => this.#addresses.get(id) ?? [])
  }

  /** Whether a load balancer of the network has a member, or a receiver of access logs, at this address. */
  isMember(networkId: string, ip: Ip): boolean {
    return this.#members.of(networkId)?.has(formatIp(ip)) ?? false
  }

  /** A load balancer in the network other than this one; null if there is none. */
  neighbourIn(networkId: string, loadBalancerId: string | null): LoadBalancer | null {
    for (const id of this.#inNetwork.get(networkId) ?? [])
      if (id !== loadBalancerId) return this.#loadBalancers.get(id) ?? null
    return null
  }

  /** A load balancer with a listener or a pool that uses this certificate; null if there is none. */
  certificateUser(certificateId: string): LoadBalancer | null {
    for (const id of this.#certificateUsers.of(certificateId)) return this.#loadBalancers.get(id) ?? null
    return null
  }

  /** All load balancers that use this certificate. */
  *certificateUsers(certificateId: string): Generator<LoadBalancer> {
    for (const id of this.#certificateUsers.of(certificateId)) {
      const loadBalancer = this.#loadBalancers.get(id)
      if (loadBalancer !== undefined) yield loadBalancer
    }
  }

  /** A load balancer that names this security group; null if there is none. */
  securityGroupUser(groupId: string): LoadBalancer | null {
    for (const id of this.#securityGroupUsers.of(groupId)) return this.#loadBalancers.get(id) ?? null
    return null
  }

  /** Ids of the load balancers that have this name: at most one, unless the store was written otherwise. */
  dnsNameUsers(name: string): Iterable<string> {
    return this.#dnsNameUsers.of(name)
  }

  memberAddresses(networkId: string): Iterable<string> {
    return this.#members.of(networkId)?.keys() ?? []
  }

  freeNetworkNumber(isClaimed: (number: number) => boolean): number | null {
    let first = 1n
    for (;;) {
      const free = this.#numbers.lowestMissing(first, LAST_NETWORK_NUMBER)
      if (free === null || !isClaimed(Number(free))) return free === null ? null : Number(free)
      first = free + 1n
    }
  }

  usage(projectId: string): Usage {
    return this.#usage.get(projectId) ?? NO_USAGE
  }

  /** Calls back after what is counted for an object has changed. `key` is `kind/id`. */
  onCounted(listener: (key: string) => void): void {
    this.#onCounted = listener
  }

  /** The quota that one object uses. `key` is `kind/id`. */
  countedFor(key: string): Usage {
    return this.#counted.get(key)?.usage ?? NO_USAGE
  }

  /** Measures a document with pauses, so that `usageOf` of it takes no time. */
  measuring(next: LoadBalancer, before: LoadBalancer): Pieces<number> {
    return this.#sizes.measuring(next, before)
  }

  /** The quota that a document uses. @param before the previous version; null for a new one */
  usageOf(next: LoadBalancer, before: LoadBalancer | null): Usage {
    return { ...usageOf(next), bytes: this.#sizes.of(next, before) }
  }

  #learnNodes(): void {
    this.#nodeFabric = new Set(
      this.#view
        .list('node')
        .flatMap(({ fabricAddress, seenFabricAddress }) => [
          ...(fabricAddress === null ? [] : [fabricAddress]),
          ...(seenFabricAddress === null ? [] : [seenFabricAddress]),
        ]),
    )
  }

  #count(key: string, next: Counted | null): void {
    const before = this.#counted.get(key)
    if (before !== undefined)
      this.#usage.set(before.projectId, subtractUsage(this.usage(before.projectId), before.usage))
    if (next === null) this.#counted.delete(key)
    else {
      this.#counted.set(key, next)
      this.#usage.set(next.projectId, addUsage(this.usage(next.projectId), next.usage))
    }
    this.#onCounted(key)
  }

  #replaceNetwork(id: string, next: Network | null): void {
    const before = this.#networks.get(id)
    if (before !== undefined) this.#numbers.delete(BigInt(before.number))
    if (next === null) this.#networks.delete(id)
    else {
      this.#networks.set(id, next)
      this.#numbers.add(BigInt(next.number))
    }
  }

  #replaceLoadBalancer(id: string, next: LoadBalancer | null): void {
    const before = this.#loadBalancers.get(id)
    this.#members.replace(before ?? null, next)
    this.#certificateUsers.replace(id, next === null ? [] : certificatesNamed(next).map((named) => named.id))
    this.#securityGroupUsers.replace(id, next?.securityGroupIds ?? [])
    this.#dnsNameUsers.replace(id, next?.dnsNames ?? [])
    const local = next?.localName === undefined ? null : next
    this.#localUsers.replace(id, local?.vips.map(({ address }) => address) ?? [])
    this.#adopted.replace(id, local === null ? [] : [`${local.nodeGroupId} ${local.localName}`])
    if (before !== undefined && before.networkId !== null) removeFrom(this.#inNetwork, before.networkId, id)
    if (next === null) this.#loadBalancers.delete(id)
    else {
      this.#loadBalancers.set(id, next)
      if (next.networkId !== null) addTo(this.#inNetwork, next.networkId, id)
    }
    this.#count(`loadBalancer/${id}`, next && { projectId: next.projectId, usage: this.usageOf(next, before ?? null) })
  }

  #countObject(kind: CountedKind, id: string, next: ObjectOf<CountedKind> | null): void {
    this.#count(`${kind}/${id}`, next && { projectId: next.projectId, usage: objectUsage(kind, next) })
  }

  #replaceAddress(id: string, next: Address | null): void {
    const before = this.#addresses.get(id)
    if (before !== undefined) this.#forgetAddress(before, next === null)
    if (next !== null) this.#learnAddress(next)
    const counts = next !== null && isInUse(next) && next.projectId !== null
    this.#count(`address/${id}`, counts ? { projectId: next.projectId!, usage: { ...NO_USAGE, addresses: 1 } } : null)
  }

  #forgetAddress(address: Address, gone: boolean): void {
    this.#addresses.delete(address.id)
    if (gone) this.addressIndex(address.holderId).remove(parseIp(address.address))
    removeFrom(this.#heldBy, address.holderId, address.id)
    if (this.#fabric.get(address.address) === address.id) this.#fabric.delete(address.address)
    if (address.ownerId === null) return
    if (address.use === 'node') this.#nodeAddresses.delete(`${address.ownerId} ${address.subnetId}`)
    if (address.use === 'floating') removeFrom(this.#boundTo, address.ownerId, address.id)
  }

  #learnAddress(address: Address): void {
    this.#addresses.set(address.id, address)
    addTo(this.#heldBy, address.holderId, address.id)
    const { quarantineUntil, projectId, ownerId } = address
    const rest = quarantineUntil === null ? null : { projectId, untilMs: Date.parse(quarantineUntil) }
    this.addressIndex(address.holderId).put(parseIp(address.address), rest)
    if (rest !== null) return
    if (address.scope === 'fabric') this.#fabric.set(address.address, address.id)
    if (ownerId === null) return
    if (address.use === 'node') this.#nodeAddresses.set(`${ownerId} ${address.subnetId}`, address)
    if (address.use === 'floating') addTo(this.#boundTo, ownerId, address.id)
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set<string>()
  set.add(value)
  sets.set(key, set)
}

function removeFrom(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}
