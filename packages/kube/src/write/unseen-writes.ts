import type { Clock } from '@spout/runtime'
import { isOlder } from '../reflector/resource-version.ts'
import type { KubeObject } from '../types/index.ts'

/** Longer than a watch lags. A server that was restored from a backup never shows the version that was written. */
const LAG_MS = 30_000

interface Write<Status> {
  readonly status: Status
  readonly version: string
  readonly atMs: number
}

/** The last status that was written of each object, until the cluster shows it: a lagging watch causes no second write. */
export class UnseenWrites<Status> {
  readonly #clock: Clock
  readonly #byUid = new Map<string, Write<Status>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The status is written. @param version of the object with it */
  add(object: KubeObject, status: Status, version: string): void {
    this.#byUid.set(uidOf(object), { status, version, atMs: this.#clock.monotonicMs() })
  }

  /** @param object as the cluster shows it @returns what was written later than that; null when nothing was */
  of(object: KubeObject): Status | null {
    const written = this.#byUid.get(uidOf(object))
    if (written === undefined) return null
    const isLate = this.#clock.monotonicMs() - written.atMs >= LAG_MS
    if (!isLate && isOlder(object.metadata.resourceVersion ?? '', written.version)) return written.status
    this.#byUid.delete(uidOf(object))
    return null
  }

  /** The object is gone. */
  forget(uid: string): void {
    this.#byUid.delete(uid)
  }
}

const uidOf = ({ metadata }: Pick<KubeObject, 'metadata'>): string => metadata.uid ?? ''
