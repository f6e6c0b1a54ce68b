import { type KubeObject, objectKey } from '../types/index.ts'
import type { IndexFunction } from './indexes.ts'
import { share } from './share.ts'

/** A cached object. */
export interface CacheEntry<T> {
  readonly uid: string
  readonly resourceVersion: string
  readonly value: T
  /** Index values in the order of the cache's index names. */
  readonly indexed: readonly (readonly string[])[]
}

const NONE: readonly string[] = []

/** Trimmed objects by key, with indexes. Tells for each change whether the trimmed object differs. */
export class ObjectCache<Raw extends KubeObject, T> {
  readonly #trim: (raw: Raw) => T
  readonly #indexNames: readonly string[]
  readonly #indexFunctions: readonly IndexFunction<Raw>[]
  readonly #entries = new Map<string, CacheEntry<T>>()
  readonly #indexes: readonly Map<string, Set<string>>[]

  constructor(trim: (raw: Raw) => T, indexes: Readonly<Record<string, IndexFunction<Raw>>>) {
    this.#trim = trim
    this.#indexNames = Object.keys(indexes)
    this.#indexFunctions = Object.values(indexes)
    this.#indexes = this.#indexNames.map(() => new Map())
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): CacheEntry<T> | undefined {
    return this.#entries.get(key)
  }

  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  entries(): Iterable<readonly [string, CacheEntry<T>]> {
    return this.#entries.entries()
  }

  /** @throws Error when there is no such index */
  keysBy(index: string, value: string): readonly string[] {
    const at = this.#indexNames.indexOf(index)
    if (at === -1) throw new Error(`no index "${index}"`)
    return [...(this.#indexes[at]?.get(value) ?? NONE)]
  }

  /** The entry for an object; the existing entry itself when it has the same version. */
  entryOf(raw: Raw): CacheEntry<T> {
    const { uid = '', resourceVersion = '' } = raw.metadata
    const before = this.#entries.get(objectKey(raw.metadata))
    if (before !== undefined && before.uid === uid && before.resourceVersion === resourceVersion) return before
    return { uid, resourceVersion, value: this.#trim(raw), indexed: this.#indexFunctions.map((index) => index(raw)) }
  }

  /** Forgets the versions of all objects, so that none counts as unchanged because of an equal version. */
  forgetVersions(): void {
    for (const [key, entry] of this.#entries) this.#entries.set(key, { ...entry, resourceVersion: '' })
  }

  /** @returns whether the cached object differs now */
  put(key: string, entry: CacheEntry<T>): boolean {
    const before = this.#entries.get(key)
    if (before === entry) return false
    if (before === undefined) {
      this.#entries.set(key, entry)
      this.#index(key, entry)
      return true
    }
    const value = share(before.value, entry.value)
    const indexed = share(before.indexed, entry.indexed)
    const same = before.uid === entry.uid && Object.is(value, before.value) && indexed === before.indexed
    const after = { uid: entry.uid, resourceVersion: entry.resourceVersion, value, indexed }
    this.#entries.set(key, after)
    if (indexed !== before.indexed) {
      this.#unindex(key, before)
      this.#index(key, after)
    }
    return !same
  }

  /** @returns whether it was cached */
  delete(key: string): boolean {
    const before = this.#entries.get(key)
    if (before === undefined) return false
    this.#entries.delete(key)
    this.#unindex(key, before)
    return true
  }

  #index(key: string, { indexed }: CacheEntry<T>): void {
    for (const [at, values] of indexed.entries())
      for (const value of values) {
        const keys = this.#indexes[at]?.get(value)
        if (keys === undefined) this.#indexes[at]?.set(value, new Set([key]))
        else keys.add(key)
      }
  }

  #unindex(key: string, { indexed }: CacheEntry<T>): void {
    for (const [at, values] of indexed.entries())
      for (const value of values) {
        const keys = this.#indexes[at]?.get(value)
        keys?.delete(key)
        if (keys?.size === 0) this.#indexes[at]?.delete(value)
      }
  }
}
