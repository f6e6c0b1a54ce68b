import { type LoadBalancer, listDifference } from '@spout/model'
import type { ChildRef } from '../contract/view.ts'

type Children = { readonly [Part in 'id' | 'listeners' | 'pools']: Readonly<LoadBalancer[Part]> }

/** Where every listener, route, pool, member and monitor is, kept up to date from whole documents. */
export class ChildIndex {
  readonly #byId = new Map<string, ChildRef>()

  get(id: string): ChildRef | null {
    return this.#byId.get(id) ?? null
  }

  /** Skips parts that are the same object in both documents. */
  replace(before: LoadBalancer | null, after: LoadBalancer | null): void {
    const { gone, come } = childDifference(before, after)
    for (const { id } of gone) this.#byId.delete(id)
    for (const { id, ref } of come) this.#byId.set(id, ref)
  }
}

interface Child {
  readonly id: string
  readonly ref: ChildRef
}

/**
 * The children that differ between two versions. A child that is the same object in both does not differ, nor does a
 * member or route that has the same id at the same place in a list of the same length.
 */
export function childDifference(
  before: Children | null,
  after: Children | null,
): { readonly gone: Iterable<Child>; readonly come: Iterable<Child> } {
  const listeners = versions(before?.listeners ?? [], after?.listeners ?? [], (listener, other) => {
    return { ...listener, routes: missing(listener.routes, other.routes) }
  })
  const pools = versions(before?.pools ?? [], after?.pools ?? [], (pool, other) => {
    return { ...pool, members: missing(pool.members, other.members) }
  })
  return {
    gone: before === null ? [] : childrenOf({ id: before.id, listeners: listeners.gone, pools: pools.gone }),
    come: after === null ? [] : childrenOf({ id: after.id, listeners: listeners.come, pools: pools.come }),
  }
}

/**
 * The items of a list that the other one lacks. Lists of the same length are compared place by place: after most changes
 * of a long list each item, or its new version, is at its place.
 */
const missing = <T extends { readonly id: string }>(own: readonly T[], others: readonly T[]): T[] =>
  own.length === others.length
    ? own.filter((item, at) => item.id !== others[at]!.id)
    : [...listDifference(others, own).come]

/**
 * The parts that differ.
 * @param own a part with those of its own parts that its other version lacks
 */
function versions<T extends { readonly id: string }>(
  before: readonly T[],
  after: readonly T[],
  own: (part: T, other: T) => T,
): { readonly gone: readonly T[]; readonly come: readonly T[] } {
  const { gone, come } = listDifference(before, after)
  if (gone.length === 0 || come.length === 0) return { gone, come }
  const ownOf = (parts: readonly T[], others: readonly T[]): readonly T[] => {
    const byId = new Map(others.map((other) => [other.id, other]))
    return parts.map((part) => {
      const other = byId.get(part.id)
      return other === undefined ? part : own(part, other)
    })
  }
  return { gone: ownOf(gone, come), come: ownOf(come, gone) }
}

function* childrenOf({ id: loadBalancerId, listeners, pools }: Children): Iterable<Child> {
  // One object says where all parts of a kind are: there are tens of thousands of them.
  const at = (kind: ChildRef['kind'], poolId: string | null = null): ChildRef => ({ kind, loadBalancerId, poolId })
  const [listener, route, pool] = [at('listener'), at('route'), at('pool')]
  for (const { id, routes } of listeners) {
    yield { id, ref: listener }
    for (const { id } of routes) yield { id, ref: route }
  }
  for (const { id: poolId, members, monitor } of pools) {
    yield { id: poolId, ref: pool }
    const member = at('member', poolId)
    for (const { id } of members) yield { id, ref: member }
    if (monitor) yield { id: monitor.id, ref: at('healthMonitor', poolId) }
  }
}
