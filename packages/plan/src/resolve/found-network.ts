import { listDifference } from '@spout/model'
import { type EndpointNames, findingMemberNetwork, type MemberContext, type MemberNetwork } from './member-network.ts'

/** The facts by which the network of a document's members is found. */
export interface NetworkContext extends MemberContext {
  /** The load balancer's present network. */
  readonly currentNetworkId: string | null
  /**
   * A version of the document that was resolved to the present network. Addresses that it names are not looked up
   * again, so the cost of a change to a large pool depends on the change. Default: none.
   */
  readonly resolved?: EndpointNames | null
}

/** The result of an earlier search for the network of a document's members, with its input. */
export interface FoundNetwork {
  readonly names: EndpointNames
  readonly vipNetworkId: string | null
  readonly currentNetworkId: string | null
  readonly outcome: MemberNetwork
}

/**
 * As `memberNetwork`, but yields between addresses, and does not look up those of members that `resolved` has. The
 * result may be passed to `resolveLoadBalancer` only as long as no fact of the context has changed.
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
    // After a problem all members are looked at, so that the error names the field in the whole document.
    if (outcome === null || 'network' in outcome) return { ...found, outcome }
  }
  return { ...found, outcome: yield* findingMemberNetwork(names, vipNetworkId, context) }
}

/** Whether a result applies to this input: everything that names an address is the same object at the same place. */
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

/** The parts of `after` that name addresses and are not in `before` as the same objects. */
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
