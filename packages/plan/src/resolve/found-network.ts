import { listDifference } from '@spout/model'
import { type EndpointNames, findingMemberNetwork, type MemberContext, type MemberNetwork } from './member-network.ts'

/** The facts by which the network of a document's members is found. */
export interface NetworkContext extends MemberContext {
  /** The load balancer's present network. */
  readonly currentNetworkId: string | null
  /**
   * A version that was resolved to the present network. What it names is not looked up again, so a change of a pool of
   * thousands costs what it changes. Default: none.
   */
  readonly resolved?: EndpointNames | null
}

/** The network of a document's members, as it was found before. */
export interface FoundNetwork {
  readonly names: EndpointNames
  readonly vipNetworkId: string | null
  readonly currentNetworkId: string | null
  readonly outcome: MemberNetwork
}

/**
 * As `memberNetwork`, with pauses; of members that a resolved version has, the network is known. Whoever keeps it gives
 * it to `resolveLoadBalancer` only while no fact of the context has changed.
 */
export function* findingNetwork(
  names: EndpointNames,
  vipNetworkId: string | null,
  context: NetworkContext,
): Generator<undefined, FoundNetwork> {
  const { resolved, currentNetworkId } = context
  const found = { names, vipNetworkId, currentNetworkId }
  if (resolved && currentNetworkId !== null && (vipNetworkId ?? currentNetworkId) === currentNetworkId) {
    const since = endpointsSince(resolved, names)
    const outcome = yield* findingMemberNetwork(since, currentNetworkId, context)
    // Else all members count, and an error names the place in the document.
    if (outcome === null || 'network' in outcome) return { ...found, outcome }
  }
  return { ...found, outcome: yield* findingMemberNetwork(names, vipNetworkId, context) }
}

/** Whether this is what would be found for these: all that names an address is the same object, at the same place. */
export const isFoundFor = (
  found: FoundNetwork,
  names: EndpointNames,
  vipNetworkId: string | null,
  currentNetworkId: string | null,
): boolean =>
  found.vipNetworkId === vipNetworkId &&
  found.currentNetworkId === currentNetworkId &&
  areSame(found.names.pools, names.pools, ({ members }) => members) &&
  areSame(found.names.listeners, names.listeners, ({ accessLog }) => accessLog)

const areSame = <T>(some: readonly T[], others: readonly T[], of: (one: T) => unknown): boolean =>
  some.length === others.length && some.every((one, at) => of(one) === of(others[at]!))

/** What names addresses in one version and is not the same object in the other. */
function endpointsSince(before: EndpointNames, after: EndpointNames): EndpointNames {
  const pools = new Map(before.pools.map((pool) => [pool.id, pool.members]))
  const logs = new Set(before.listeners.map(({ accessLog }) => accessLog))
  return {
    pools: after.pools.map((pool) => ({
      ...pool,
      members: [...listDifference(pools.get(pool.id) ?? [], pool.members).come],
    })),
    listeners: after.listeners.filter(({ accessLog }) => !logs.has(accessLog)),
  }
}
