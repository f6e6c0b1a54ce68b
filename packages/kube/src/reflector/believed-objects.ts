import type { Clock, Logger } from '@spout/runtime'
import { type KubeObject, objectKey } from '../types/index.ts'
import { type DeletionGuard, type DeletionGuardPolicy, judgeList } from './deletion-guard.ts'
import type { IndexFunction } from './indexes.ts'
import { type CacheEntry, ObjectCache } from './object-cache.ts'

export interface BelievedObjectsOptions<Raw extends KubeObject, T> {
  readonly trim: (raw: Raw) => T
  readonly indexes: Readonly<Record<string, IndexFunction<Raw>>>
  readonly knownKeys: readonly string[]
  readonly policy: DeletionGuardPolicy
  readonly clock: Clock
  readonly log: Logger
  readonly onChange: (key: string) => void
  readonly onDeletionGuard: () => void
}

/** A complete list, trimmed, by key. `unreadable`: `trim` threw for the object. */
export type Listed<T> = Map<string, CacheEntry<T> | 'unreadable'>

/**
 * The objects that count as present: those that the server has shown, and missing ones that the deletion guard holds.
 */
export class BelievedObjects<Raw extends KubeObject, T> {
  readonly cache: ObjectCache<Raw, T>
  readonly #options: BelievedObjectsOptions<Raw, T>
  /** `knownKeys` until the first list; empty after it. */
  #unseen: Set<string>
  /** Keys of objects that the last list lacked, and that the deletion guard holds. */
  #held = new Set<string>()
  /** Keys of objects that exist but for which `trim` threw. */
  readonly #unreadable = new Set<string>()
  #deletionGuard: DeletionGuard | null = null
  #trimFailures = 0

  constructor(options: BelievedObjectsOptions<Raw, T>) {
    this.#options = options
    this.cache = new ObjectCache(options.trim, options.indexes)
    this.#unseen = new Set(options.knownKeys)
  }

  get deletionGuard(): DeletionGuard | null {
    return this.#deletionGuard
  }

  get trimFailures(): number {
    return this.#trimFailures
  }

  /** All keys that count as present. */
  known(): Set<string> {
    return new Set([...this.cache.keys(), ...this.#unseen, ...this.#held])
  }

  version(key: string): string | undefined {
    return this.cache.get(key)?.resourceVersion
  }

  isHeld(key: string): boolean {
    return this.#held.has(key) || this.#unseen.has(key) || this.#unreadable.has(key)
  }

  read(raw: Raw): CacheEntry<T> | 'unreadable' {
    try {
      return this.cache.entryOf(raw)
    } catch (error) {
      this.#trimFailures++
      const key = objectKey(raw.metadata)
      this.#options.log.error(
        { event: 'trim-failed', key, err: error, bug: true },
        'a changed object could not be read; its last state is kept',
      )
      return 'unreadable'
    }
  }

  put(key: string, raw: Raw): void {
    const entry = this.read(raw)
    if (entry === 'unreadable') {
      this.#unreadable.add(key)
      return
    }
    const differs = this.cache.put(key, entry)
    this.#seen(key)
    if (differs) this.#options.onChange(key)
  }

  delete(key: string): void {
    const held = this.isHeld(key)
    const there = this.cache.delete(key)
    this.#seen(key)
    if (there || held) this.#options.onChange(key)
  }

  /**
   * Replaces the cache with a list, but keeps the objects that the deletion guard holds. Then reports each key that
   * differs.
   *
   * @param confirmed whether an operator has confirmed that missing objects are deleted
   */
  takeList(listed: Listed<T>, historyWentBack: boolean, confirmed: boolean): void {
    const { policy, clock, onChange } = this.#options
    const known = this.known()
    const gone = new Set([...known].filter((key) => !listed.has(key)))
    const sight = { known: known.size, gone, historyWentBack }
    const guard = confirmed ? null : judgeList(sight, this.#deletionGuard, clock.monotonicMs(), policy)
    const changed: string[] = []
    this.#unreadable.clear()
    for (const [key, entry] of listed)
      if (entry === 'unreadable') this.#unreadable.add(key)
      else if (this.cache.put(key, entry)) changed.push(key)
    if (guard === null)
      for (const key of gone) {
        this.cache.delete(key)
        changed.push(key)
      }
    this.#held = guard === null ? new Set() : gone
    this.#unseen = new Set()
    this.#settle(guard)
    for (const key of changed) onChange(key)
  }

  /** An operator has confirmed that the held objects are deleted: removes and reports them. */
  confirm(): void {
    const held = this.#held
    this.#held = new Set()
    this.#settle(null)
    for (const key of held) {
      this.cache.delete(key)
      this.#options.onChange(key)
    }
  }

  #seen(key: string): void {
    this.#unreadable.delete(key)
    if (this.#held.delete(key) && this.#held.size === 0) this.#settle(null)
  }

  #settle(guard: DeletionGuard | null): void {
    const before = this.#deletionGuard
    this.#deletionGuard = guard
    if (before !== null || guard !== null) this.#options.onDeletionGuard()
  }
}
