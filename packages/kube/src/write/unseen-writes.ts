import type { Clock } from '@spout/runtime'
import { isOlder } from '../reflector/resource-version.ts'
import type { KubeObject } from '../types/index.ts'

/** Longer than a watch can lag. A limit is needed because a server restored from a backup never shows the version. */
const LAG_MS = 30_000

interface Write<Status> {
  readonly status: Status
  readonly version: string
  readonly atMs: number
}

/**
 * The last status that we wrote of each object, kept until the watch shows it. So a lagging watch causes no second
 * write.
 */
export class UnseenWrites<Status> {
  readonly #clock: Clock
  readonly #byUid = new Map<string, Write<Status>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes that a status was written. @param version the version of the object that has it */
  add(object: KubeObject, status: Status, version: string): void {
    this.#byUid.set(uidOf(object), { status, version, atMs: this.#clock.monotonicMs() })
  }

  /** @param object as the watch shows it @returns the status that was written after that version; null when none was */
  of(object: KubeObject): Status | null {
    const written = this.#byUid.get(uidOf(object))
    if (written === undefined) return null
    const isLate = this.#clock.monotonicMs() - written.atMs >= LAG_MS
    if (!isLate && isOlder(object.metadata.resourceVersion ?? '', written.version)) return written.status
    this.#byUid.delete(uidOf(object))
    return null
  }

  /** Called when the object is gone. */
  forget(uid: string): void {
    this.#byUid.delete(uid)
  }
}

const uidOf = ({ metadata }: Pick<KubeObject, 'metadata'>): string => metadata.uid ?? ''
