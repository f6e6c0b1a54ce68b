import { KubeError, KubeUnreachable } from '../transport/errors.ts'
import { type KubeObject, objectKey, type WatchEvent } from '../types/index.ts'
import type { BelievedObjects } from './believed-objects.ts'
import { HistoryWentBack } from './history.ts'
import { compareVersions, isOlder, newerOf } from './resource-version.ts'

/** How many deleted keys are remembered, so that a late event does not bring an object back. */
const MAX_REMEMBERED_DELETIONS = 10_000

export interface EventCounters {
  events: number
  bookmarks: number
  /** Events that were ignored: duplicates, and those that came late. */
  ignored: number
}

/** The watches that follow one list, seen as one. It takes their events into the cache, and ignores outdated ones. */
export class WatchSession<Raw extends KubeObject, T> {
  readonly #objects: BelievedObjects<Raw, T>
  readonly #counters: EventCounters
  readonly #deletions = new Map<string, string>()
  #version: string
  #disordered = false

  /** @param version the version of the list */
  constructor(objects: BelievedObjects<Raw, T>, counters: EventCounters, version: string) {
    this.#objects = objects
    this.#counters = counters
    this.#version = version
  }

  /** The version that the next watch resumes from. */
  get version(): string {
    return this.#version
  }

  /** Whether an event has arrived late. Then a break may have lost others, and resuming from `version` is not safe. */
  get disordered(): boolean {
    return this.#disordered
  }

  /**
   * Takes one line of the stream.
   *
   * @throws KubeError for an ERROR event; HistoryWentBack; KubeUnreachable when the line is not an event
   */
  take(line: string): void {
    const event = parseEvent<Raw>(line)
    if (event.type === 'ERROR')
      throw new KubeError('watch', event.object.code ?? 500, event.object, retryAfterMs(event.object.details))
    const version = event.object.metadata.resourceVersion ?? ''
    if (event.type === 'BOOKMARK') {
      this.#counters.bookmarks++
      if (isOlder(version, this.#version))
        throw new HistoryWentBack(`a bookmark of ${version} came after ${this.#version}`)
      this.#version = version
      return
    }
    this.#counters.events++
    const late = isOlder(version, this.#version)
    const taken = event.type === 'DELETED' ? this.#delete(event.object, version) : this.#put(event.object, version)
    if (!taken) this.#counters.ignored++
    else if (late) this.#disordered = true
    this.#version = newerOf(this.#version, version)
  }

  #put(raw: Raw, version: string): boolean {
    const key = objectKey(raw.metadata)
    // An event for a held key always counts, whatever its version.
    if (!this.#objects.isHeld(key)) {
      const known = this.#objects.version(key) ?? this.#deletions.get(key)
      const order = known === undefined ? null : compareVersions(version, known)
      if (order !== null && order <= 0) return false
    }
    this.#deletions.delete(key)
    this.#objects.put(key, raw)
    return true
  }

  #delete(raw: Raw, version: string): boolean {
    const key = objectKey(raw.metadata)
    const known = this.#objects.version(key)
    if (known !== undefined && !this.#objects.isHeld(key) && isOlder(version, known)) return false
    const deleted = this.#deletions.get(key)
    if (known === undefined && deleted !== undefined && (compareVersions(version, deleted) ?? 1) <= 0) return false
    this.#remember(key, version)
    this.#objects.delete(key)
    return true
  }

  #remember(key: string, version: string): void {
    this.#deletions.delete(key)
    this.#deletions.set(key, version)
    if (this.#deletions.size <= MAX_REMEMBERED_DELETIONS) return
    for (const oldest of this.#deletions.keys()) {
      this.#deletions.delete(oldest)
      return
    }
  }
}

const TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'])

function parseEvent<Raw extends KubeObject>(line: string): WatchEvent<Raw> {
  let event: Partial<WatchEvent<Raw>> | null
  try {
    event = JSON.parse(line) as Partial<WatchEvent<Raw>> | null
  } catch {
    throw new KubeUnreachable('watch', 'malformed', `a line of ${line.length} characters that is not JSON`)
  }
  const object = event?.object
  if (!TYPES.has(event?.type) || typeof object !== 'object' || object === null)
    throw new KubeUnreachable('watch', 'malformed', 'a line that is not an event')
  if (event?.type !== 'ERROR' && !('metadata' in object && object.metadata?.resourceVersion))
    throw new KubeUnreachable('watch', 'malformed', 'an event without a resourceVersion')
  return event as WatchEvent<Raw>
}

const retryAfterMs = (details: { readonly retryAfterSeconds?: number } | undefined): number | null =>
  details?.retryAfterSeconds === undefined ? null : details.retryAfterSeconds * 1000
