import { type Listener, type LoadBalancer, listDifference, type Pool } from '@spout/model'
import { atOnce, type Pieces } from '@spout/runtime'

/**
 * The size of load balancers as JSON, in bytes. For a changed document only the parts that are new objects are
 * measured.
 */
export class DocumentSizes {
  readonly #known = new WeakMap<LoadBalancer, number>()

  /** @param before the previous version; null measures the whole document */
  of(document: LoadBalancer, before: LoadBalancer | null = null): number {
    return atOnce(this.measuring(document, before))
  }

  /** As `of`, with pauses. Once it is done, `of` knows the size. */
  *measuring(document: LoadBalancer, before: LoadBalancer | null): Pieces<number> {
    const known = this.#known.get(document)
    if (known !== undefined) return known
    const then = before === null ? undefined : this.#known.get(before)
    const bytes =
      before === null || then === undefined ? yield* measuring(document) : then + (yield* difference(before, document))
    this.#known.set(document, bytes)
    return bytes
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** How many items are written at once. */
const AT_ONCE = 100

/** The sum without brackets and separators. One text of several items costs less than one of each. */
function* sumOf(items: readonly unknown[]): Pieces<number> {
  let bytes = 0
  for (let from = 0; from < items.length; from += AT_ONCE) {
    if (from > 0) yield
    const some = items.slice(from, from + AT_ONCE)
    bytes += bytesOf(some) - some.length - 1
  }
  return bytes
}

/** Parts are measured without separators, so the sum does not depend on their order. */
function* measuring(document: LoadBalancer): Pieces<number> {
  const listeners = yield* sizeOf(document.listeners, LISTENERS)
  return headOf(document) + listeners + (yield* sizeOf(document.pools, POOLS))
}

const headOf = (document: LoadBalancer): number => bytesOf({ ...document, listeners: [], pools: [] })

/** How the parts of one kind are measured: what they say themselves, and the many items in them. */
interface Measured<T> {
  readonly head: (part: T) => unknown
  readonly items: (part: T) => readonly unknown[]
}
const LISTENERS: Measured<Listener> = { head: (one) => ({ ...one, routes: [] }), items: ({ routes }) => routes }
const POOLS: Measured<Pool> = { head: (one) => ({ ...one, members: [] }), items: ({ members }) => members }

function* sizeOf<T>(parts: readonly T[], { head, items }: Measured<T>): Pieces<number> {
  let bytes = 0
  for (const part of parts) bytes += bytesOf(head(part)) + (yield* sumOf(items(part)))
  return bytes
}

function* difference(before: LoadBalancer, after: LoadBalancer): Pieces<number> {
  const heads = headOf(after) - headOf(before)
  const listeners = yield* differenceOf(before.listeners, after.listeners, LISTENERS)
  return heads + listeners + (yield* differenceOf(before.pools, after.pools, POOLS))
}

function* differenceOf<T extends { readonly id: string }>(
  before: readonly T[],
  after: readonly T[],
  how: Measured<T>,
): Pieces<number> {
  const { gone, come } = listDifference(before, after)
  const then = new Map(gone.map((part) => [part.id, part]))
  let bytes = 0
  for (const part of come) {
    const old = then.get(part.id)
    then.delete(part.id)
    if (old === undefined) bytes += yield* sizeOf([part], how)
    else {
      const items = listDifference(how.items(old), how.items(part))
      bytes += bytesOf(how.head(part)) - bytesOf(how.head(old))
      bytes += (yield* sumOf(items.come)) - (yield* sumOf(items.gone))
    }
  }
  return bytes - (yield* sizeOf([...then.values()], how))
}
