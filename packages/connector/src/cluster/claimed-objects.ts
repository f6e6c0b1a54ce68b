import { type DeletionGuardPolicy, type KubeObject, Reflector, type Resource, type Transport } from '@spout/kube'
import { type Clock, Listeners, type Logger } from '@spout/runtime'
import { keyOf, MANAGED_BY, PROJECT } from '../objects.ts'
import { ObjectWrites } from './object-writes.ts'

export interface ClaimedObjectsOptions<T extends KubeObject> {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly resource: Resource<T>
  /** Reduces an object to the fields that are kept. */
  readonly trim: (object: T) => T
  /** Only this namespace; null for all. */
  readonly namespace: string | null
  /** Objects that have load balancers: when the first list lacks them, the deletion guard may hold them. */
  readonly knownKeys: readonly string[]
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
  /** The finalizer that keeps an object until its load balancer is gone. */
  readonly finalizer: string
  /** Value of `spout.dev/managed-by` on claimed objects. */
  readonly mark: string
}

interface Claim {
  /** The `resourceVersion` of the object that was patched. */
  readonly version: string
  readonly finalizers: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * The objects of one kind in a cluster, kept in memory. Objects that are balanced are claimed: they get our finalizer,
 * which keeps them until their load balancer is gone, and an annotation as our mark.
 */
export class ClaimedObjects<T extends KubeObject> {
  readonly reflector: Reflector<T, T>
  readonly #options: ClaimedObjectsOptions<T>
  readonly #listeners = new Listeners<string>()
  readonly #writes: ObjectWrites
  /** Our own claims, by the key of the object, until the watch shows a newer version of the object. */
  readonly #claims = new Map<string, Claim>()

  constructor(options: ClaimedObjectsOptions<T>) {
    this.#options = options
    const { transport, clock, log, resource, trim, namespace, knownKeys, deletionGuard } = options
    this.#writes = new ObjectWrites(transport)
    this.reflector = new Reflector<T, T>({
      ...{ transport, clock, log, resource, trim, knownKeys },
      ...(deletionGuard === undefined ? {} : { deletionGuard }),
      ...(namespace === null ? {} : { namespace }),
    })
    this.reflector.onChange((key) => {
      if (this.#claims.get(key)?.version !== this.reflector.identity(key)?.resourceVersion) this.#claims.delete(key)
      this.#listeners.tell(key)
    })
  }

  /** Calls back with the key of each object that changed. */
  onChange(listener: (key: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** @param key `namespace/name` @returns the object with our finalizer and mark, even before the watch shows them */
  get(key: string): T | undefined {
    const object = this.reflector.get(key)
    const identity = this.reflector.identity(key)
    if (object === undefined || identity === undefined) return undefined
    const { resourceVersion } = identity
    const claim = this.#claims.get(key)
    const { finalizers, annotations } = claim?.version === resourceVersion ? claim : object.metadata
    return {
      ...object,
      metadata: {
        ...object.metadata,
        resourceVersion,
        ...(finalizers === undefined ? {} : { finalizers }),
        ...(annotations === undefined ? {} : { annotations: { ...object.metadata.annotations, ...annotations } }),
      },
    }
  }

  *all(): Iterable<T> {
    for (const [, object] of this.reflector.list()) yield object
  }

  /** Whether the object is missing from the cluster but held by the deletion guard. */
  isHeld(key: string): boolean {
    return this.reflector.isHeld(key)
  }

  /**
   * Asks the API server whether the object with this UID is gone, whatever the watch has shown.
   * @throws Error when it cannot be decided now
   */
  isGone(key: string, uid: string): Promise<boolean> {
    const [namespace = '', name = ''] = key.split('/', 2)
    return this.reflector.isGone({ namespace, name }, uid)
  }

  /** Whether it has our finalizer and mark. */
  isClaimed({ metadata }: T): boolean {
    const { finalizer, mark } = this.#options
    return (metadata.finalizers?.includes(finalizer) ?? false) && metadata.annotations?.[MANAGED_BY] === mark
  }

  /**
   * Puts finalizer and mark on an object. The write applies only to the version and the UID that were read.
   * @param projectId written as well, when there are several projects
   * @throws Stale when the object has changed since
   */
  async claim(object: T, projectId?: string): Promise<void> {
    const { finalizer, mark } = this.#options
    const finalizers = [...new Set([...(object.metadata.finalizers ?? []), finalizer])]
    const project: Record<string, string> = projectId === undefined ? {} : { [PROJECT]: projectId }
    const annotations = { [MANAGED_BY]: mark, ...project }
    await this.#writes.patchMetadata(this.#options.resource, object, { finalizers, annotations })
    // Remembered, so that the object is not claimed twice while the watch lags.
    const key = keyOf(object)
    const { resourceVersion: version = '' } = object.metadata
    if (this.reflector.identity(key)?.resourceVersion === version)
      this.#claims.set(key, { version, finalizers, annotations })
  }

  /** Removes finalizer and mark. @throws Stale when the object has changed since it was read, or is gone */
  async release(object: T): Promise<void> {
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== this.#options.finalizer)
    const annotations = { [MANAGED_BY]: null, [PROJECT]: null }
    await this.#writes.patchMetadata(this.#options.resource, object, { finalizers, annotations })
  }

  /**
   * Applies our part of the status.
   * @param clear fields to remove first, whoever wrote them. Server-side apply alone would leave what others wrote
   * @returns the version that was written; null when the object is gone
   * @throws Stale when the object has another UID
   */
  async applyStatus(object: T, status: object, clear: object | null): Promise<string | null> {
    const { resource } = this.#options
    if (clear !== null) await this.#writes.patchStatus(resource, object, clear)
    return this.#writes.applyStatus(resource, object, status)
  }
}
