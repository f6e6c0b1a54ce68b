import type { LoadBalancer, Pool } from '@spout/model'
import type { ChildRef } from './contract/view.ts'
import { listDifference } from './list-difference.ts'

type Children = Pick<LoadBalancer, 'id' | 'listeners' | 'pools'>

/** Where every listener, route, pool, member and monitor is, kept up to date from whole documents. */
export class ChildIndex {
  readonly #byId = new Map<string, ChildRef>()

  get(id: string): ChildRef | null {
    return this.#byId.get(id) ?? null
  }

  /** Skips parts that are the same object in both documents. */
  replace(before: LoadBalancer | null, after: LoadBalancer | null): void {
    const pools = listDifference(before?.pools ?? [], after?.pools ?? [])
    const poolsThen = new Map(pools.gone.map((pool) => [pool.id, pool]))
    const poolsNow = new Map(pools.come.map((pool) => [pool.id, pool]))
    const listeners = listDifference(before?.listeners ?? [], after?.listeners ?? [])
    const rest = (all: readonly Pool[], others: ReadonlyMap<string, Pool>, part: 'gone' | 'come'): readonly Pool[] =>
      all.map((pool) => {
        const other = others.get(pool.id)
        if (other === undefined) return pool
        const [then, now] = part === 'gone' ? [pool, other] : [other, pool]
        return { ...pool, members: [...listDifference(then.members, now.members)[part]] }
      })
    if (before !== null)
      for (const { id } of childrenOf({
        id: before.id,
        listeners: [...listeners.gone],
        pools: [...rest(pools.gone, poolsNow, 'gone')],
      }))
        this.#byId.delete(id)
    if (after !== null)
      for (const { id, ref } of childrenOf({
        id: after.id,
        listeners: [...listeners.come],
        pools: [...rest(pools.come, poolsThen, 'come')],
      }))
        this.#byId.set(id, ref)
  }
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
