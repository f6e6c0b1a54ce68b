import type { Endpoint, EndpointSlice, Protocol } from '@spout/kube'
import { compareIp, forbiddenRange, formatIp, type Ip, isIp, parseIp } from '@spout/net'
import { FAMILY_OF, type Family } from '../addresses/address-request.ts'
import type { PoolContent } from '../content/content.ts'
import { mostMembers } from './most-members.ts'

/** A port of a Service. EndpointSlices refer to it by its name. */
export interface TargetPort {
  /** Empty for an unnamed port. */
  readonly name: string
  readonly protocol: Protocol
  /** The port of the Service itself. */
  readonly port: number
  /** The port of the pods; null when the Service names it by a text. */
  readonly targetPort: number | null
}

/** A member for the traffic of one port. */
export interface MemberDraft {
  readonly address: string
  readonly port: number
  /** A name for people. */
  readonly name: string
  readonly weight: number
}

export interface EndpointSelection {
  readonly families: readonly Family[]
  /** Endpoints in this zone, or hinted for it, get the larger weight. */
  readonly preferZone: string | null
  /** Of the pool that they are for. */
  readonly protocol: PoolContent['protocol']
}

export interface EndpointMembers {
  readonly members: readonly MemberDraft[]
  /** How many endpoints the pool has no room for. */
  readonly leftOut: number
}

const ORDINARY_WEIGHT = 1
const PREFERRED_WEIGHT = 100
const NAME_CHARACTERS = 255

interface Found {
  readonly ip: Ip
  readonly endpoint: Endpoint
  readonly port: number
  readonly family: Family
  readonly state: 'ready' | 'terminating'
}

/**
 * The endpoints that get a port's traffic, sorted by address: the ready ones, or, in a family that has none, those that
 * are terminating but still serving (KEP-1669). Endpoints of a Service with `publishNotReadyAddresses` have `ready`
 * set. One endpoint may be in several slices, and a named target port may have a different number in each. If there are
 * more than a pool can have, the first are taken, because the control plane would refuse the whole load balancer
 * otherwise.
 *
 * @returns the members, and the number of those beyond
 */
export function endpointMembers(
  slices: Iterable<EndpointSlice>,
  port: TargetPort,
  request: EndpointSelection,
): EndpointMembers {
  const found = new Map<string, Found>()
  for (const one of candidates(slices, port)) {
    if (!request.families.includes(one.family)) continue
    const key = `${formatIp(one.ip)} ${one.port}`
    const known = found.get(key)
    // Two slices may disagree while an endpoint moves from one to the other. Then it counts as ready.
    if (known === undefined || (known.state === 'terminating' && one.state === 'ready')) found.set(key, one)
  }
  const all: Found[] = []
  for (const family of request.families) {
    const own = [...found.values()].filter((one) => one.family === family)
    const ready = own.filter(({ state }) => state === 'ready')
    all.push(...(ready.length > 0 ? ready : own))
  }
  const most = mostMembers(request.protocol)
  const members = all
    .sort((a, b) => compareIp(a.ip, b.ip) || a.port - b.port)
    .slice(0, most)
    .map(({ ip, endpoint, port: number }) => ({
      address: formatIp(ip),
      port: number,
      name: (endpoint.targetRef?.name ?? '').slice(0, NAME_CHARACTERS),
      weight: request.preferZone !== null && isFor(endpoint, request.preferZone) ? PREFERRED_WEIGHT : ORDINARY_WEIGHT,
    }))
  return { members, leftOut: Math.max(0, all.length - most) }
}

function* candidates(slices: Iterable<EndpointSlice>, port: TargetPort): Generator<Found> {
  for (const slice of slices) {
    if (slice.metadata.deletionTimestamp !== undefined || slice.addressType === 'FQDN') continue
    const family = FAMILY_OF[slice.addressType]
    if (family === undefined) continue
    const number = targetOf(slice, port)
    if (number === null) continue
    for (const endpoint of slice.endpoints ?? []) {
      const state = stateOf(endpoint)
      const ip = state === null ? null : addressOf(endpoint, family)
      if (state !== null && ip !== null) yield { ip, endpoint, port: number, family, state }
    }
  }
}

/** The number of the port in this slice; null when it has none. A slice port without a number stands for all ports. */
function targetOf(slice: EndpointSlice, port: TargetPort): number | null {
  const own = slice.ports?.find((one) => (one.name ?? '') === port.name && (one.protocol ?? 'TCP') === port.protocol)
  if (own === undefined) return null
  const number = own.port ?? port.targetPort ?? port.port
  return Number.isInteger(number) && number >= 1 && number <= 65_535 ? number : null
}

/** The state of an endpoint; null when it gets no traffic. Without conditions it is ready, and not terminating. */
function stateOf({ conditions }: Endpoint): Found['state'] | null {
  const ready = conditions?.ready ?? true
  if (ready) return 'ready'
  return (conditions?.serving ?? ready) && (conditions?.terminating ?? false) ? 'terminating' : null
}

/**
 * The address of an endpoint: the first, like in Kubernetes. Null for one that is not allowed as an endpoint, because
 * slices can be written by hand.
 */
function addressOf(endpoint: Endpoint, family: Family): Ip | null {
  const text = endpoint.addresses?.[0]
  if (typeof text !== 'string' || !isIp(text)) return null
  const ip = parseIp(text)
  return ip.version === family && forbiddenRange(ip) === null ? ip : null
}

/** Whether an endpoint is for a zone: by its hints; without hints, by its own zone. */
function isFor(endpoint: Endpoint, zone: string): boolean {
  const hints = endpoint.hints?.forZones ?? []
  return hints.length > 0 ? hints.some(({ name }) => name === zone) : endpoint.zone === zone
}
