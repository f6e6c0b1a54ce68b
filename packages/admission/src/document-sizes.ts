import { type Listener, type LoadBalancer, listDifference, type Pool } from '@spout/model'

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
  headOf(document) + sizeOf(document.listeners, LISTENERS) + sizeOf(document.pools, POOLS)

const headOf = (document: LoadBalancer): number => bytesOf({ ...document, listeners: [], pools: [] })

/** How the parts of one kind are measured: what they say themselves, and the many items in them. */
interface Measured<T> {
  readonly head: (part: T) => unknown
  readonly items: (part: T) => readonly unknown[]
}
const LISTENERS: Measured<Listener> = { head: (one) => ({ ...one, routes: [] }), items: ({ routes }) => routes }
const POOLS: Measured<Pool> = { head: (one) => ({ ...one, members: [] }), items: ({ members }) => members }

const sizeOf = <T>(parts: readonly T[], { head, items }: Measured<T>): number =>
  parts.reduce((sum, part) => sum + bytesOf(head(part)) + sumOf(items(part)), 0)

const difference = (before: LoadBalancer, after: LoadBalancer): number =>
  headOf(after) -
  headOf(before) +
  differenceOf(before.listeners, after.listeners, LISTENERS) +
  differenceOf(before.pools, after.pools, POOLS)

function differenceOf<T extends { readonly id: string }>(
  before: readonly T[],
  after: readonly T[],
  how: Measured<T>,
): number {
  const { gone, come } = listDifference(before, after)
  const then = new Map(gone.map((part) => [part.id, part]))
  let bytes = 0
  for (const part of come) {
    const old = then.get(part.id)
    then.delete(part.id)
    if (old === undefined) bytes += sizeOf([part], how)
    else {
      const items = listDifference(how.items(old), how.items(part))
      bytes += bytesOf(how.head(part)) - bytesOf(how.head(old)) + sumOf(items.come) - sumOf(items.gone)
    }
  }
  return bytes - sizeOf([...then.values()], how)
}
