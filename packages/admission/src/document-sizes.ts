import type { Listener, LoadBalancer, Pool } from '@spout/model'
import { listDifference } from './list-difference.ts'

/**
 * The size of load balancers as JSON, in bytes. For a changed document only the parts that are new objects are
 * measured.
 */
export class DocumentSizes {
  readonly #known = new WeakMap<LoadBalancer, number>()

  /** @param before the previous version; null measures the whole document */
  of(document: LoadBalancer, before: LoadBalancer | null = null): number {
    const known = this.#known.get(document)
    if (known !== undefined) return known
    const then = before === null ? undefined : this.#known.get(before)
    const bytes = before === null || then === undefined ? measured(document) : then + difference(before, document)
    this.#known.set(document, bytes)
    return bytes
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const sumOf = (parts: readonly unknown[]): number => parts.reduce<number>((sum, part) => sum + bytesOf(part), 0)

/** Parts are measured without separators, so the sum does not depend on their order. */
const measured = (document: LoadBalancer): number =>
  headOf(document) + listenersOf(document.listeners) + poolsOf(document.pools)

const headOf = (document: LoadBalancer): number => bytesOf({ ...document, listeners: [], pools: [] })
const listenersOf = (listeners: readonly Listener[]): number => sumOf(listeners)
const poolsOf = (pools: readonly Pool[]): number =>
  pools.reduce((sum, pool) => sum + poolHeadOf(pool) + sumOf(pool.members), 0)
const poolHeadOf = (pool: Pool): number => bytesOf({ ...pool, members: [] })

function difference(before: LoadBalancer, after: LoadBalancer): number {
  const listeners = listDifference(before.listeners, after.listeners)
  const pools = listDifference(before.pools, after.pools)
  const then = new Map(pools.gone.map((pool) => [pool.id, pool]))
  let bytes = headOf(after) - headOf(before) + listenersOf(listeners.come) - listenersOf(listeners.gone)
  for (const pool of pools.come) {
    const old = then.get(pool.id)
    then.delete(pool.id)
    if (old === undefined) bytes += poolsOf([pool])
    else {
      const members = listDifference(old.members, pool.members)
      bytes += poolHeadOf(pool) - poolHeadOf(old) + sumOf(members.come) - sumOf(members.gone)
    }
  }
  return bytes - poolsOf([...then.values()])
}
