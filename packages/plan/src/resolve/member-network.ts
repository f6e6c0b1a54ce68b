import type { Listener, Network, NetworkRoute, Pool, Subnet } from '@spout/model'
import { type Cidr, cidrContains, endsOf, type Ip, ipEquals, parseCidr, parseIp } from '@spout/net'
import { type Problem, problem } from '../reason.ts'
import { RouteIndex } from './route-index.ts'

/** The facts that the addresses in a document are checked against. */
export interface MemberContext {
  /** The project's networks, in a stable order. */
  readonly networks: readonly Network[]
  /** Why no tenant may name this address, in any network (`a management address`); null if it may. */
  readonly forbidden: (ip: Ip) => string | null
  /** Who uses the address in that network other than a member (`a node's own address`, `a VIP`); null if nobody. */
  readonly occupant: (networkId: string, address: string) => string | null
}

interface KnownSubnet {
  readonly network: Network
  readonly subnet: Subnet
  readonly cidr: Cidr
}

/** An address that a document names as an endpoint. */
interface Endpoint {
  /** Its path. A function, because only an error needs it. */
  readonly field: () => string
  readonly text: string
  readonly subnetId: string | null
}

/** The parts of a document that name addresses to which nodes send traffic: members, and receivers of access logs. */
export interface EndpointNames {
  readonly pools: readonly Pool[]
  readonly listeners: readonly Pick<Listener, 'accessLog'>[]
}

/** The network, or why there is none. Null: the document names no address. */
export type MemberNetwork = { readonly network: Network } | { readonly problem: Problem } | null

/** The same facts, with the load balancer's present network. */
export type MemberNetworkContext = MemberContext & { readonly currentNetworkId: string | null }

/**
 * Finds the one network that contains all members, the addresses at which they are probed, and all receivers of access
 * logs.
 * @param preferredId the network that it must be, if a VIP determines it
 */
export function memberNetwork(
  names: EndpointNames,
  preferredId: string | null,
  context: MemberNetworkContext,
): MemberNetwork {
  return atOnce(findingMemberNetwork(names, preferredId, context))
}

/** Runs a generator to its end, without pauses. */
export function atOnce<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** As `memberNetwork`, but yields after each address. The result is valid if no fact changes meanwhile. */
export function* findingMemberNetwork(
  names: EndpointNames,
  preferredId: string | null,
  context: MemberNetworkContext,
): Generator<undefined, MemberNetwork> {
  const subnets = context.networks.flatMap((network) =>
    network.subnets.map((subnet): KnownSubnet => ({ network, subnet, cidr: parseCidr(subnet.cidr) })),
  )
  const behind = new RoutesOf()
  let candidates: readonly Network[] | null = null
  const checked: { readonly endpoint: Endpoint; readonly ip: Ip }[] = []
  const all = distinct(endpoints(names))
  for (const endpoint of all) {
    yield
    const ip = parseIp(endpoint.text)
    const why = context.forbidden(ip)
    if (why !== null) {
      const isToo = (other: Ip) => context.forbidden(other) !== null
      return { problem: yield* withOthers(forbiddenProblem(endpoint, why), endpoint, all, isToo) }
    }
    const named = endpoint.subnetId === null ? null : subnets.find(({ subnet }) => subnet.id === endpoint.subnetId)
    if (named === undefined)
      return {
        problem: problem('ReferenceNotFound', {
          field: `${endpoint.field().slice(0, endpoint.field().lastIndexOf('.'))}.subnetId`,
          what: 'subnet',
          id: String(endpoint.subnetId),
        }),
      }
    // Octavia's clients name the IPv4 subnet of a network also for its IPv6 members. It then only identifies the
    // network.
    const isOther = named !== null && named.cidr.version !== ip.version
    if (named !== null && !isOther && !cidrContains(named.cidr, ip) && !behind.isReached(named, ip))
      return { problem: outsideSubnet(endpoint, named) }
    const having = named !== null && !isOther ? [named.network] : networksWith(ip)
    if (isOther && !having.includes(named.network)) return { problem: outsideSubnet(endpoint, named) }
    const networks = named === null ? having : [named.network]
    if (networks.length === 0) {
      const outside = problem('MemberOutsideNetworks', { field: endpoint.field(), address: endpoint.text })
      const isToo = (other: Ip) => context.forbidden(other) === null && networksWith(other).length === 0
      return { problem: yield* withOthers(outside, endpoint, all, isToo) }
    }
    const before: readonly Network[] = candidates ?? networks
    candidates = before.filter(
      (network) => networks.includes(network) && (preferredId === null || network.id === preferredId),
    )
    if (candidates.length === 0) {
      const others = preferredId === null ? 'the other members' : 'the VIP'
      const reason = `${endpoint.text} is in another network than ${others}`
      return { problem: problem('InvalidField', { field: endpoint.field(), reason }) }
    }
    checked.push({ endpoint, ip })
  }
  if (candidates === null) return null
  const network = candidates.find((one) => one.id === context.currentNetworkId) ?? candidates[0]!
  const reserved = reservedIn(subnets.filter((known) => known.network === network))
  for (const { endpoint, ip } of checked) {
    yield
    const why = reserved(ip) ?? context.occupant(network.id, endpoint.text)
    if (why !== null) return { problem: forbiddenProblem(endpoint, `it is ${why}`) }
  }
  return { network }

  function networksWith(ip: Ip): readonly Network[] {
    const having: Network[] = []
    for (const { cidr, network } of subnets)
      if (cidrContains(cidr, ip) && !having.includes(network)) having.push(network)
    for (const network of context.networks)
      if (behind.route(network, ip) !== null && !having.includes(network)) having.push(network)
    return having
  }
}

/** Bounds the length of an answer. */
const MOST_FIELDS = 1000

/**
 * The problem of an endpoint, with the fields of all endpoints that have the same one. A connector leaves out what is
 * refused, so it must learn of each, and there may be thousands.
 */
function* withOthers(
  own: Problem,
  { field }: Endpoint,
  rest: Iterable<Endpoint>,
  isToo: (ip: Ip) => boolean,
): Generator<undefined, Problem> {
  const fields = [field()]
  for (const other of rest) {
    yield
    if (other.subnetId === null && isToo(parseIp(other.text))) fields.push(other.field())
    if (fields.length === MOST_FIELDS) break
  }
  return { ...own, fields }
}

/**
 * The first endpoint of each address and subnet. The result holds for all others: a document may have thousands of
 * members.
 */
function* distinct(all: Iterable<Endpoint>): Generator<Endpoint> {
  const seen = new Map<string | null, Set<string>>()
  for (const endpoint of all) {
    const { subnetId, text } = endpoint
    const texts = seen.get(subnetId)
    if (texts === undefined) seen.set(subnetId, new Set([text]))
    else if (texts.has(text)) continue
    else texts.add(text)
    yield endpoint
  }
}

/** Indexes by the network's list of routes, which is the same object for thousands of lookups. */
const INDEXES = new WeakMap<Network['routes'], RouteIndex<NetworkRoute>>()

/** Looks up routes of networks, which it indexes on demand. */
class RoutesOf {
  route({ routes }: Network, ip: Ip): NetworkRoute | null {
    if (routes.length === 0) return null
    const index = INDEXES.get(routes) ?? new RouteIndex(routes)
    INDEXES.set(routes, index)
    return index.find(ip)
  }

  /** Whether the network has a route to the address through a router in this subnet. */
  isReached({ network, cidr }: KnownSubnet, ip: Ip): boolean {
    const route = this.route(network, ip)
    return route !== null && cidrContains(cidr, parseIp(route.via))
  }
}

const forbiddenProblem = (endpoint: Endpoint, reason: string): Problem =>
  problem('AddressForbidden', { field: endpoint.field(), address: endpoint.text, reason })

const outsideSubnet = ({ field, text }: Endpoint, { subnet }: KnownSubnet): Problem =>
  problem('AddressOutsideSubnet', { field: field(), address: text, cidr: subnet.cidr })

function* endpoints({ pools, listeners }: EndpointNames): Generator<Endpoint> {
  for (const [at, pool] of pools.entries())
    for (const [index, { address, subnetId, monitorAddress }] of pool.members.entries()) {
      yield { field: () => `pools[${at}].members[${index}].address`, text: address, subnetId }
      if (monitorAddress === null) continue
      const field = () => `pools[${at}].members[${index}].monitorAddress`
      yield { field, text: monitorAddress, subnetId: null }
    }
  for (const [at, { accessLog }] of listeners.entries()) {
    const field = () => `listeners[${at}].accessLog.syslog.address`
    if (accessLog?.syslog) yield { field, text: accessLog.syslog.address, subnetId: null }
  }
}

/**
 * @returns a function that says why no member of the network can have an address; null if one can. It parses subnets
 * once.
 */
function reservedIn(subnets: readonly KnownSubnet[]): (ip: Ip) => string | null {
  const reserved = subnets.map(({ subnet, cidr }) => ({
    cidr,
    gateway: subnet.gatewayIp === null ? null : parseIp(subnet.gatewayIp),
    ends: endsOf(cidr),
  }))
  return (ip) => {
    for (const { cidr, gateway, ends } of reserved) {
      if (!cidrContains(cidr, ip)) continue
      if (gateway !== null && ipEquals(gateway, ip)) return 'the gateway of its subnet'
      if (ends.some((end) => ipEquals(end, ip))) return 'the network or broadcast address of its subnet'
    }
    return null
  }
}
