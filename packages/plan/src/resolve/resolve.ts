import {
  CHECK_SETTINGS_FIELDS,
  type HealthMonitor,
  type LoadBalancer,
  MOST_SLOTS,
  type Network,
  type Pool,
  settingsFieldOf,
  typesWithSettings,
  type Vip,
} from '@spout/model'
import type { RouteTables } from '../http-routes/route-tables.ts'
import { type Problem, problem } from '../reason.ts'
import { failureProblems } from './failure-settings.ts'
import { figureProblems } from './figure-problems.ts'
import { filterProblems } from './filter-problems.ts'
import { type FoundNetwork, findingNetwork, isFoundFor, type NetworkContext } from './found-network.ts'
import { atOnce, type EndpointNames, type MemberNetwork } from './member-network.ts'
import { haveOwnIds, type IdentifiedParts } from './own-ids.ts'
import { portProblems } from './port-problems.ts'
import { poolMode, poolReferenceProblems } from './protocols.ts'
import { routeProblems } from './route-problems.ts'
import { serverNameHeaderProblems } from './server-name-problems.ts'
import { certificateProblems, poolTlsProblems, tlsProblems, type UseOfCertificate } from './tls-problems.ts'

export interface ResolveContext extends NetworkContext {
  /** An earlier version that passed these checks. Default: none. */
  readonly resolved?: IdentifiedParts | null
  readonly useOfCertificate: UseOfCertificate
  /** A cache of the compiled routes of listeners. Default: none. */
  readonly tables?: RouteTables
  /** The network that was found from the same facts, so that members need not be looked up again. Default: none. */
  readonly found?: FoundNetwork | null
}

type DocumentContext = Pick<ResolveContext, 'useOfCertificate' | 'tables' | 'resolved'>

export type Resolution = { readonly network: Network | null } | { readonly problem: Problem }

/**
 * Checks the references of a load balancer's document, inside and outside of it, and finds its network (on nodes: its
 * domain). That is the network of its tenant VIP, else that of its members, else its present one, else the project's
 * only one. Null if there is none of these.
 * @param loadBalancer a document that fits the model's schema
 * @returns the network, or the first problem
 */
export function resolveLoadBalancer(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'> & { readonly vips: readonly Pick<Vip, 'networkId'>[] },
  context: ResolveContext,
): Resolution {
  const found = documentProblem(loadBalancer, context)
  if (found !== null) return { problem: found }
  const vipNetworks = new Set(loadBalancer.vips.flatMap((vip) => (vip.networkId === null ? [] : [vip.networkId])))
  if (vipNetworks.size > 1)
    return {
      problem: problem('InvalidField', {
        field: 'vips',
        reason: 'name more than one network; one load balancer has one',
      }),
    }
  const [vipNetworkId] = vipNetworks
  const ofMembers = networkOfMembers(loadBalancer, vipNetworkId ?? null, context)
  if (ofMembers !== null && 'problem' in ofMembers) return ofMembers
  const network =
    ofMembers?.network ??
    context.networks.find((one) => one.id === (vipNetworkId ?? context.currentNetworkId)) ??
    (context.networks.length === 1 ? context.networks[0] : undefined)
  return { network: network ?? null }
}

function networkOfMembers(
  names: EndpointNames,
  vipNetworkId: string | null,
  { found, ...context }: ResolveContext,
): MemberNetwork {
  if (found && isFoundFor(found, names, vipNetworkId, context.currentNetworkId)) return found.outcome
  return atOnce(findingNetwork(names, vipNetworkId, context)).outcome
}

/** The first problem of a document that does not depend on networks. Null: there is none. */
export function documentProblem(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>,
  context: DocumentContext,
): Problem | null {
  // All rules are about listeners and pools. Most load balancers are created without them.
  if (loadBalancer.listeners.length === 0 && loadBalancer.pools.length === 0) return null
  for (const found of documentProblems(loadBalancer, context)) return found
  return null
}

function* documentProblems(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>,
  { useOfCertificate, tables, resolved }: DocumentContext,
): Generator<Problem> {
  const known = new Set(resolved?.pools.map(({ members }) => members))
  yield* idProblems(loadBalancer, resolved ?? null)
  yield* portProblems(loadBalancer)
  yield* poolReferenceProblems(loadBalancer)
  for (const [index, listener] of loadBalancer.listeners.entries()) {
    yield* routeProblems(listener, `listeners[${index}].routes`, tables)
    yield* filterProblems(listener.routes, `listeners[${index}].routes`)
    yield* tlsProblems(listener, `listeners[${index}]`)
    yield* figureProblems(listener, `listeners[${index}]`)
    yield* serverNameHeaderProblems(listener, `listeners[${index}]`)
  }
  for (const [index, pool] of loadBalancer.pools.entries()) {
    if (!known.has(pool.members)) yield* endpointProblems(pool, `pools[${index}]`)
    yield* poolProblems(loadBalancer, pool, `pools[${index}]`)
  }
  yield* certificateProblems(loadBalancer, useOfCertificate)
}

function* idProblems(loadBalancer: IdentifiedParts, resolved: IdentifiedParts | null): Generator<Problem> {
  if (haveOwnIds(loadBalancer, resolved)) return
  const seen = new Set<string>()
  for (const [field, what, id] of childIds(loadBalancer)) {
    if (seen.has(id))
      yield problem('InvalidField', { field, reason: `another part of this load balancer has ${what} id ${id}` })
    seen.add(id)
  }
}

/** Path, kind and id of every listener, route, pool, member and monitor. */
export function* childIds(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>,
): Generator<
  readonly [
    field: string,
    what: 'listener' | 'route' | 'pool' | 'member' | 'healthMonitor',
    id: string,
    poolId: string | null,
  ]
> {
  for (const [index, listener] of loadBalancer.listeners.entries()) {
    yield [`listeners[${index}].id`, 'listener', listener.id, null]
    for (const [at, { id }] of listener.routes.entries())
      yield [`listeners[${index}].routes[${at}].id`, 'route', id, null]
  }
  for (const [index, pool] of loadBalancer.pools.entries()) {
    yield [`pools[${index}].id`, 'pool', pool.id, null]
    for (const [at, member] of pool.members.entries())
      yield [`pools[${index}].members[${at}].id`, 'member', member.id, pool.id]
    if (pool.monitor !== null) yield [`pools[${index}].monitor.id`, 'healthMonitor', pool.monitor.id, pool.id]
  }
}

function* endpointProblems(pool: Pool, field: string): Generator<Problem> {
  const endpoints = new Set<string>()
  for (const [index, member] of pool.members.entries()) {
    const key = `${member.address} ${member.port}`
    if (endpoints.has(key))
      yield problem('MemberTaken', {
        field: `${field}.members[${index}].port`,
        address: member.address,
        port: member.port,
      })
    endpoints.add(key)
  }
}

function* poolProblems(loadBalancer: Pick<LoadBalancer, 'listeners'>, pool: Pool, field: string): Generator<Problem> {
  if (pool.members.length > MOST_SLOTS && poolMode(loadBalancer, pool) === 'l4')
    yield problem('Unsupported', {
      field: `${field}.members`,
      reason: `a pool balanced per connection has at most ${MOST_SLOTS} members`,
    })
  if (pool.refusedPercent !== undefined && poolMode(loadBalancer, pool) !== 'l4')
    yield problem('InvalidField', {
      field: `${field}.refusedPercent`,
      reason: 'belongs to pools that are balanced per connection, not behind the proxy',
    })
  if (pool.monitor !== null) yield* monitorProblems(pool.monitor, `${field}.monitor`)
  yield* failureProblems(pool, poolMode(loadBalancer, pool), field)
  yield* poolTlsProblems(pool, poolMode(loadBalancer, pool), field)
}

function* monitorProblems(monitor: HealthMonitor, field: string): Generator<Problem> {
  for (const name of CHECK_SETTINGS_FIELDS) {
    const [isOwn, isGiven] = [settingsFieldOf(monitor.type) === name, (monitor[name] ?? null) !== null]
    if (isOwn && !isGiven) yield problem('MissingField', { field: `${field}.${name}` })
    if (!isOwn && isGiven)
      yield problem('InvalidField', {
        field: `${field}.${name}`,
        reason: `belongs to types ${typesWithSettings(name).join(' and ')}, not ${monitor.type}`,
      })
  }
  if (monitor.timeoutMs > monitor.intervalMs)
    yield problem('InvalidField', { field: `${field}.timeoutMs`, reason: 'must not be longer than intervalMs' })
}
