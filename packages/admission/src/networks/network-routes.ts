import { isDeepStrictEqual } from 'node:util'
import { MOST_NETWORK_ROUTES, type Network, type NetworkRoute, networkRoute, parseAs, SpoutError } from '@spout/model'
import {
  type Cidr,
  cidrContains,
  cidrsOverlap,
  cidrToRange,
  endsOf,
  type IpRange,
  ipEquals,
  parseCidr,
  parseIp,
  parseIpRange,
  rangesOverlap,
} from '@spout/net'
import { RouteIndex } from '@spout/plan'
import { z } from 'zod'
import { type AdmissionContext, find, putOver, timestampOf, transact } from '../claims/context.ts'
import { claimObjectRoom } from '../claims/object-room.ts'

const routeList = z.array(networkRoute).max(MOST_NETWORK_ROUTES)

/** @throws SpoutError naming the route and the reason; InUse while a member is behind a route that would go */
export async function setNetworkRoutes(
  context: AdmissionContext,
  networkId: string,
  input: readonly NetworkRoute[],
): Promise<Network> {
  const routes = parseAs(routeList, input, 'routes')
  return transact(context, (claim) => {
    const stored = find(context, 'network', networkId, 'network')
    const network = stored.value
    if (isDeepStrictEqual(network.routes, routes)) return { writes: [], result: network }
    if (network.returnPath === 'dsr' && routes.length > 0) {
      const reason =
        'members of a network with return path dsr hold the VIP, so nodes reach those behind routers through tunnels: give the network a subnet with reach tunnel'
      throw new SpoutError('Unsupported', { field: 'routes', reason })
    }
    checkHosts(network, routes)
    checkRoutes(context, network, routes)
    refuseStrandedMembers(context, network, routes)
    const next: Network = { ...network, routes, updatedAt: timestampOf(context.now()) }
    claimObjectRoom(claim, 'network', next)
    return { writes: [putOver('network', stored, next)], result: next }
  })
}

/** Each route of return path `node` names the node that hosts what is behind it, and no other route does. */
function checkHosts({ returnPath }: Network, routes: readonly NetworkRoute[]): void {
  for (const [index, { node }] of routes.entries()) {
    const field = `routes[${index}].node`
    if (returnPath === 'node' && node === undefined)
      throw new SpoutError('InvalidField', {
        field,
        reason: 'is required: with return path node, packets go to the node that hosts the member',
      })
    if (returnPath !== 'node' && node !== undefined)
      throw new SpoutError('InvalidField', { field, reason: `return path ${returnPath} does not use it` })
  }
}

function checkRoutes(context: AdmissionContext, network: Network, routes: readonly NetworkRoute[]): void {
  const why = forbidding(context)
  const subnets = network.subnets.map((subnet) => ({ subnet, cidr: parseCidr(subnet.cidr) }))
  for (const [index, { to, via }] of routes.entries()) {
    const cidr = parseCidr(to)
    const field = `routes[${index}].to`
    const reason = why(cidr)
    if (reason !== null) throw new SpoutError('AddressForbidden', { field, address: to, reason })
    const overlapping = subnets.find((one) => cidrsOverlap(one.cidr, cidr))
    if (overlapping !== undefined)
      throw new SpoutError('InvalidField', { field, reason: `overlaps ${overlapping.subnet.cidr} of the same network` })
    checkRouter(context, network, { field: `routes[${index}].via`, via, version: cidr.version })
  }
  checkDisjoint(context, routes)
}

/** Why no tenant's route may lead to (a part of) a prefix, without revealing its owner. */
function forbidding({ deny, view }: AdmissionContext): (cidr: Cidr) => string | null {
  const pools: readonly IpRange[] = view
    .list('addressPool')
    .flatMap(({ ranges }) => ranges.map(({ first, last }) => parseIpRange(`${first}-${last}`)))
  return (cidr) => {
    const range = cidrToRange(cidr)
    const isPublic = pools.some((pool) => rangesOverlap(pool, range))
    return deny.whyForbiddenRoute(cidr) ?? (isPublic ? 'it overlaps addresses of load balancers' : null)
  }
}

/** A router must be a host of the segment and not a node. */
function checkRouter(
  { index }: AdmissionContext,
  { id, subnets, returnPath }: Network,
  { field, via, version }: { readonly field: string; readonly via: string; readonly version: 4 | 6 },
): void {
  const ip = parseIp(via)
  if (ip.version !== version)
    throw new SpoutError('InvalidField', { field, reason: `${via} is not IPv${version}, as the route is` })
  const subnet = subnets.find(({ cidr, reach }) => reach !== 'tunnel' && cidrContains(parseCidr(cidr), ip))
  if (subnet === undefined)
    throw new SpoutError('InvalidField', { field, reason: `${via} is in no subnet on the segment of this network` })
  const forbid = (reason: string) => new SpoutError('AddressForbidden', { field, address: via, reason })
  if (endsOf(parseCidr(subnet.cidr)).some((end) => ipEquals(end, ip)))
    throw forbid('it is the network or broadcast address of its subnet')
  if (returnPath === 'gateway' && subnet.gatewayIp === via)
    throw forbid('it is the gateway of its subnet, which load-balancer nodes hold')
  const known = index.addressIn(id, via)
  if (known?.use === 'node') throw forbid("it is a load-balancer node's own address")
  if (known?.use === 'vip') throw forbid('it is the address of a load balancer')
}

function checkDisjoint({ index }: AdmissionContext, routes: readonly NetworkRoute[]): void {
  const lookup = new RouteIndex(routes)
  const overlap = lookup.overlap()
  if (overlap !== null) {
    // Refuse the later one, in the order given.
    const [first, second] = overlap.map((route) => routes.indexOf(route)).sort((a, b) => a - b) as [number, number]
    const [one, other] = [routes[first]!, routes[second]!]
    const reason = one.to === other.to ? `routes[${first}] leads to it already` : `overlaps routes[${first}], ${one.to}`
    throw new SpoutError('InvalidField', { field: `routes[${second}].to`, reason })
  }
  for (const address of index.nodeFabricAddresses()) {
    const route = lookup.find(parseIp(address))
    if (route === null) continue
    const field = `routes[${routes.indexOf(route)}].to`
    throw new SpoutError('AddressForbidden', { field, address: route.to, reason: 'it holds the address of a node' })
  }
}

/** Members behind a removed route must be behind another one. */
function refuseStrandedMembers({ index }: AdmissionContext, network: Network, routes: readonly NetworkRoute[]): void {
  const known = new Set(routes.map(({ to }) => to))
  const leaving = network.routes.filter(({ to }) => !known.has(to))
  if (leaving.length === 0) return
  const [before, after] = [new RouteIndex(leaving), new RouteIndex(routes)]
  for (const member of index.memberAddresses(network.id)) {
    const ip = parseIp(member)
    const route = before.find(ip)
    if (route !== null && after.find(ip) === null)
      throw new SpoutError('InUse', { what: 'route', id: route.to, user: `member ${member}` })
  }
}
