import type { LoadBalancer } from '@spout/model'
import type { ChildRef } from './view.ts'

/** Where every listener, pool, member and monitor lives, kept from whole documents. */
export class ChildIndex {
  readonly #byId = new Map<string, ChildRef>()

  get(id: string): ChildRef | null {
    return this.#byId.get(id) ?? null
  }

  replace(before: LoadBalancer | null, after: LoadBalancer | null): void {
    if (before) for (const { id } of childrenOf(before)) this.#byId.delete(id)
    if (after) for (const { id, ref } of childrenOf(after)) this.#byId.set(id, ref)
  }
}

function* childrenOf({
  id: loadBalancerId,
  listeners,
  pools,
}: LoadBalancer): Iterable<{ readonly id: string; readonly ref: ChildRef }> {
  for (const { id } of listeners) yield { id, ref: { kind: 'listener', loadBalancerId, poolId: null } }
  for (const pool of pools) {
    yield { id: pool.id, ref: { kind: 'pool', loadBalancerId, poolId: null } }
    for (const { id } of pool.members) yield { id, ref: { kind: 'member', loadBalancerId, poolId: pool.id } }
    if (pool.monitor) yield { id: pool.monitor.id, ref: { kind: 'healthMonitor', loadBalancerId, poolId: pool.id } }
  }
}
