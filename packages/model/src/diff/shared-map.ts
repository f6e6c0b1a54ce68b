/** Above this average of entries per bucket, the number of buckets grows fourfold. */
const MOST_IN_BUCKET = 32

type Buckets<V> = readonly ReadonlyMap<string, V>[]

/**
 * An immutable, unordered map with string keys. A new version shares all unchanged buckets with the version that it was
 * made from, so both making a version and comparing two of them are cheap.
 */
export class SharedMap<V> {
  readonly size: number
  readonly #buckets: Buckets<V>

  private constructor(buckets: Buckets<V>, size: number) {
    this.#buckets = buckets
    this.size = size
  }

  static empty<V>(): SharedMap<V> {
    return new SharedMap<V>([new Map()], 0)
  }

  get(key: string): V | undefined {
    return bucketOf(this.#buckets, key).get(key)
  }

  has(key: string): boolean {
    return bucketOf(this.#buckets, key).has(key)
  }

  *[Symbol.iterator](): Generator<readonly [key: string, value: V]> {
    for (const bucket of this.#buckets) yield* bucket
  }

  *keys(): Generator<string> {
    for (const bucket of this.#buckets) yield* bucket.keys()
  }

  *values(): Generator<V> {
    for (const bucket of this.#buckets) yield* bucket.values()
  }

  /** The entries of this version whose values are not identical in the other version, or absent from it. */
  *differing(other: SharedMap<V>): Generator<readonly [key: string, value: V]> {
    const alike = other.#buckets.length === this.#buckets.length
    for (const [at, bucket] of this.#buckets.entries()) {
      if (alike && other.#buckets[at] === bucket) continue
      for (const entry of bucket) if (other.get(entry[0]) !== entry[1]) yield entry
    }
  }

  /** Begins a new version with the same entries. */
  draft(): SharedMapDraft<V> {
    return new SharedMapDraft(this.#buckets, this.size, (buckets, size) => new SharedMap(buckets, size))
  }
}

/** A mutable new version of a `SharedMap`. `done` makes it immutable. */
export class SharedMapDraft<V> {
  #buckets: Map<string, V>[]
  #size: number
  /** The buckets that no other version shares, which may be changed in place. */
  #own = new Set<Map<string, V>>()
  readonly #made: (buckets: Buckets<V>, size: number) => SharedMap<V>

  constructor(buckets: Buckets<V>, size: number, made: (buckets: Buckets<V>, size: number) => SharedMap<V>) {
    this.#buckets = [...buckets] as Map<string, V>[]
    this.#size = size
    this.#made = made
  }

  get(key: string): V | undefined {
    return bucketOf(this.#buckets, key).get(key)
  }

  has(key: string): boolean {
    return bucketOf(this.#buckets, key).has(key)
  }

  set(key: string, value: V): void {
    const bucket = this.#ownBucket(key)
    const before = bucket.size
    bucket.set(key, value)
    this.#size += bucket.size - before
    if (this.#size > this.#buckets.length * MOST_IN_BUCKET) this.#grow()
  }

  delete(key: string): void {
    if (this.has(key) && this.#ownBucket(key).delete(key)) this.#size--
  }

  /** @returns the version as it is now. Later changes of the draft do not affect it. */
  done(): SharedMap<V> {
    const made = this.#made([...this.#buckets], this.#size)
    this.#own.clear()
    return made
  }

  #ownBucket(key: string): Map<string, V> {
    const at = placeOf(key, this.#buckets.length)
    const bucket = this.#buckets[at]!
    if (this.#own.has(bucket)) return bucket
    const own = new Map(bucket)
    this.#buckets[at] = own
    this.#own.add(own)
    return own
  }

  #grow(): void {
    const buckets = Array.from({ length: this.#buckets.length * 4 }, () => new Map<string, V>())
    for (const bucket of this.#buckets) for (const [key, value] of bucket) bucketOf(buckets, key).set(key, value)
    this.#buckets = buckets
    this.#own = new Set(buckets)
  }
}

const bucketOf = <B>(buckets: readonly B[], key: string): B => buckets[placeOf(key, buckets.length)]!

/** FNV-1a. @param count a power of two */
function placeOf(key: string, count: number): number {
  if (count === 1) return 0
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) & (count - 1)
}
