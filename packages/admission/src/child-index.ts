import { type LoadBalancer, listDifference } from '@spout/model'
import type { ChildRef } from './contract/view.ts'

type Children = { readonly [Part in 'id' | 'listeners' | 'pools']: Readonly<LoadBalancer[Part]> }

/** Where every listener, route, pool, member and monitor is, kept up to date from whole documents. */
export class ChildIndex {
  readonly #byId = new Map<string, ChildRef>()

  get(id: string): ChildRef | null {
    return this.#byId.get(id) ?? null
  }

  /** Skips parts that are the same object in both documents. */
  replace(before: LoadBalancer | null, after: LoadBalancer | null): void {
    const listeners = versions(before?.listeners ?? [], after?.listeners ?? [], (listener, other) => {
      return { ...listener, routes: [...listDifference(other.routes, listener.routes).come] }
    })
    const pools = versions(before?.pools ?? [], after?.pools ?? [], (pool, other) => {
      return { ...pool, members: [...listDifference(other.members, pool.members).come] }
    })
    if (before !== null)
      for (const { id } of childrenOf({ id: before.id, listeners: listeners.gone, pools: pools.gone }))
        this.#byId.delete(id)
    if (after !== null)
      for (const { id, ref } of childrenOf({ id: after.id, listeners: listeners.come, pools: pools.come }))
        this.#byId.set(id, ref)
  }
}

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
  const ownOf = (parts: readonly T[], others: readonly T[]): readonly T[] => {
    const byId = new Map(others.map((other) => [other.id, other]))
    return parts.map((part) => {
      const other = byId.get(part.id)
      return other === undefined ? part : own(part, other)
    })
  }
  return { gone: ownOf(gone, come), come: ownOf(come, gone) }
}

function* childrenOf({ id: loadBalancerId, listeners, pools }: Children): Iterable<{
  readonly id: string
  readonly ref: ChildRef
}> {
  for (const { id, routes } of listeners) {
    yield { id, ref: { kind: 'listener', loadBalancerId, poolId: null } }
    for (const route of routes) yield { id: route.id, ref: { kind: 'route', loadBalancerId, poolId: null } }
  }
  for (const pool of pools) {
    yield { id: pool.id, ref: { kind: 'pool', loadBalancerId, poolId: null } }
    for (const { id } of pool.members) yield { id, ref: { kind: 'member', loadBalancerId, poolId: pool.id } }
    if (pool.monitor) yield { id: pool.monitor.id, ref: { kind: 'healthMonitor', loadBalancerId, poolId: pool.id } }
  }
}
