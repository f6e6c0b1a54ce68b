import { type AddressRequest, type Family, keyOf, type OrRefusal, refuse, shown, uidOf } from '@spout/connector'
import type { Service } from '@spout/kube'
import type { PortKey } from '../names.ts'
import { annotation, fieldOf, listAnnotation } from './annotations.ts'

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const LONGEST_KEY = 255
const MOST_NAMESPACES = 32

/**
 * The unit of a Service: the Services that are decided together. They have the same sharing key and name the same set
 * of namespaces, their own included. So a Service of another namespace can join only when both name each other.
 * @returns the name of the unit; a Service that does not share has a unit of its own
 */
export function unitOf(service: Service): OrRefusal<string> {
  const key = annotation(service, 'sharingKey')
  if ('refusal' in key) return key
  if (key.value === null) return { value: aloneUnit(service) }
  if (key.value.length > LONGEST_KEY)
    return refuse('InvalidAnnotation', fieldOf('sharingKey'), `It is longer than ${LONGEST_KEY} characters.`)
  const others = listAnnotation(service, 'shareWith')
  if ('refusal' in others) return others
  const namespaces = [...new Set([service.metadata.namespace ?? '', ...(others.value ?? [])])].sort()
  const wrong = namespaces.find((name) => !NAMESPACE.test(name))
  if (wrong !== undefined)
    return refuse('InvalidAnnotation', fieldOf('shareWith'), `"${shown(wrong)}" is not the name of a namespace.`)
  if (namespaces.length > MOST_NAMESPACES)
    return refuse('InvalidAnnotation', fieldOf('shareWith'), `There are more than ${MOST_NAMESPACES} namespaces.`)
  return { value: `shared:${namespaces.join(',')}:${key.value}` }
}

/** The other namespaces that a Service wants to share with, whether or not it may. */
export function namespacesSharedWith(service: Service): readonly string[] {
  const [key, others] = [annotation(service, 'sharingKey'), listAnnotation(service, 'shareWith')]
  if ('refusal' in key || key.value === null || 'refusal' in others) return []
  return (others.value ?? []).filter((name) => name !== service.metadata.namespace)
}

export const aloneUnit = (service: Service): string => `alone:${keyOf(service)}`

/** A Service that may share. */
export interface Sharer {
  readonly service: Service
  readonly request: AddressRequest
  /** The ports that it requests. */
  readonly ports: readonly PortKey[]
}

/** An existing load balancer. */
export interface HeldGroup {
  readonly id: string
  readonly addresses: ReadonlyMap<Family, string>
  /** Which Service (by UID) has which port. */
  readonly ports: ReadonlyMap<PortKey, string>
  readonly services: ReadonlySet<string>
}

/** Services of one address, and so of one load balancer. */
export interface AddressGroup {
  /** The id of the load balancer that has the address; null when it has yet to be created. */
  readonly heldBy: string | null
  readonly request: AddressRequest
  readonly members: readonly GroupMember[]
}

export interface GroupMember {
  readonly service: Service
  /** Ports that another Service of the group has. */
  readonly taken: ReadonlyMap<PortKey, Service>
}

/**
 * Assigns the Services of a unit to addresses. A Service on an address stays there with its ports. A newcomer joins the
 * first address that satisfies its request and where its ports are free. One that requests an address by its number
 * joins it even when some ports are taken; those ports get an error. Depends only on age and UID, not on input order.
 */
export function partition(sharers: readonly Sharer[], held: readonly HeldGroup[]): readonly AddressGroup[] {
  const byAge = [...sharers].sort(olderFirst)
  const groups = [...held]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((known): Building => ({ held: known, sharers: [], request: null, ports: new Map() }))
  const newcomers: Sharer[] = []
  for (const sharer of byAge) {
    const own = groups.find((group) => group.held?.services.has(uidOf(sharer.service)))
    const request = own === undefined ? null : joined(own.request, sharer.request)
    if (own === undefined || request === null) newcomers.push(sharer)
    else join(own, sharer, request)
  }
  for (const group of groups)
    for (const sharer of group.sharers)
      for (const port of sharer.ports)
        if (group.held?.ports.get(port) === uidOf(sharer.service)) group.ports.set(port, sharer.service)
  for (const group of groups) for (const sharer of group.sharers) claimFree(group, sharer)
  for (const sharer of newcomers) {
    const fits = groups.find((group) => group.sharers.length > 0 && mayJoin(group, sharer))
    const group = fits ?? { held: null, sharers: [], request: null, ports: new Map() }
    if (fits === undefined) groups.push(group)
    join(group, sharer, joined(group.request, sharer.request) ?? sharer.request)
    claimFree(group, sharer)
  }
  return groups.flatMap(({ held: known, sharers: members, request, ports }) =>
    request === null
      ? []
      : [{ heldBy: known?.id ?? null, request, members: members.map((sharer) => member(sharer, ports)) }],
  )
}

interface Building {
  readonly held: HeldGroup | null
  readonly sharers: Sharer[]
  request: AddressRequest | null
  readonly ports: Map<PortKey, Service>
}

function join(group: Building, sharer: Sharer, request: AddressRequest): void {
  group.sharers.push(sharer)
  group.request = request
}

function claimFree(group: Building, sharer: Sharer): void {
  for (const port of sharer.ports) if (!group.ports.has(port)) group.ports.set(port, sharer.service)
}

function mayJoin(group: Building, sharer: Sharer): boolean {
  if (joined(group.request, sharer.request) === null) return false
  const asksFor = sharer.request.families.filter(({ address }) => address !== null)
  const ofGroup = (family: Family): string | null =>
    group.held?.addresses.get(family) ?? group.request?.families.find((one) => one.family === family)?.address ?? null
  if (asksFor.some(({ family, address }) => ofGroup(family) !== null && ofGroup(family) !== address)) return false
  const asksForThisOne = asksFor.some(({ family, address }) => ofGroup(family) === address)
  return asksForThisOne || sharer.ports.every((port) => !group.ports.has(port))
}

const member = (sharer: Sharer, ports: ReadonlyMap<PortKey, Service>): GroupMember => ({
  service: sharer.service,
  taken: new Map(
    sharer.ports.flatMap((port) => {
      const holder = ports.get(port)
      return holder === undefined || holder === sharer.service ? [] : [[port, holder] as const]
    }),
  ),
})

/** Combines both requests; null when no address can satisfy both. */
function joined(a: AddressRequest | null, b: AddressRequest): AddressRequest | null {
  if (a === null) return b
  if (a.loadBalancerClass !== b.loadBalancerClass) return null
  const both = new Map(a.families.map((one) => [one.family, one]))
  for (const wanted of b.families) {
    const known = both.get(wanted.family)
    if (known?.address != null && wanted.address !== null && known.address !== wanted.address) return null
    both.set(wanted.family, {
      family: wanted.family,
      required: wanted.required || (known?.required ?? false),
      address: known?.address ?? wanted.address,
    })
  }
  const pools =
    a.pools === null || b.pools === null ? (a.pools ?? b.pools) : a.pools.filter((name) => b.pools?.includes(name))
  if (pools !== null && pools.length === 0) return null
  const { loadBalancerClass } = a
  return { families: [...both.values()], pools, ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) }
}

function olderFirst(a: Sharer, b: Sharer): number {
  const key = ({ service }: Sharer) => `${service.metadata.creationTimestamp ?? ''} ${uidOf(service)}`
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0
}
