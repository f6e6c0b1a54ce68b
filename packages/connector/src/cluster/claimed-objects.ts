import {
  type DeletionGuardPolicy,
  isConflict,
  isNotFound,
  KubeError,
  type KubeObject,
  type KubeRequest,
  objectPath,
  Reflector,
  type Resource,
  type Transport,
} from '@spout/kube'
import { type Clock, type Logger, Semaphore } from '@spout/runtime'
import { keyOf, MANAGED_BY, PROJECT, uidOf } from '../objects.ts'

/** The object has changed since it was read: read it again. */
export class Stale extends Error {
  override readonly name = 'Stale'
}

export interface ClaimedObjectsOptions<T extends KubeObject> {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly resource: Resource<T>
  /** What is kept of an object. */
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

/** Our field manager: we own what we apply, and leave what others wrote. */
const FIELD_MANAGER = 'spout'
/** The API server answers this many at once as fast as more, and refuses everybody's requests above 200. */
const MOST_WRITES = 64

interface Claim {
  readonly version: string
  readonly finalizers: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

/** The objects of one kind in a cluster, kept in memory, with our finalizer and mark on those that are balanced. */
export class ClaimedObjects<T extends KubeObject> {
  readonly reflector: Reflector<T, T>
  readonly #options: ClaimedObjectsOptions<T>
  readonly #listeners = new Set<(key: string) => void>()
  readonly #writes = new Semaphore(MOST_WRITES)
  /** What we wrote on an object, by key, until the watch shows a newer version than the one we wrote to. */
  readonly #claims = new Map<string, Claim>()

  constructor(options: ClaimedObjectsOptions<T>) {
    this.#options = options
    const { transport, clock, log, resource, trim, namespace, knownKeys, deletionGuard } = options
    this.reflector = new Reflector<T, T>({
      ...{ transport, clock, log, resource, trim, knownKeys },
      ...(deletionGuard === undefined ? {} : { deletionGuard }),
      ...(namespace === null ? {} : { namespace }),
    })
    this.reflector.onChange((key) => {
      if (this.#claims.get(key)?.version !== this.reflector.identity(key)?.resourceVersion) this.#claims.delete(key)
      for (const listener of this.#listeners) listener(key)
    })
  }

  /** Calls back with the key of each object that changed. */
  onChange(listener: (key: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @param key `namespace/name` @returns the object with what we wrote on it, even before the watch shows that */
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

  /** The object is missing, but the deletion guard holds it. */
  isHeld(key: string): boolean {
    return this.reflector.isHeld(key)
  }

  /**
   * Asks the API server itself whether the object of this UID is gone, whatever the watch has shown.
   * @throws Error when that cannot be decided now
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
   * Puts finalizer and mark on an object. The write names the version and the UID that were read.
   * @param projectId written too when there are several projects
   * @throws Stale when the object has changed since
   */
  async claim(object: T, projectId?: string): Promise<void> {
    const { finalizer, mark } = this.#options
    const finalizers = [...new Set([...(object.metadata.finalizers ?? []), finalizer])]
    const project: Record<string, string> = projectId === undefined ? {} : { [PROJECT]: projectId }
    const annotations = { [MANAGED_BY]: mark, ...project }
    await this.#patch(object, { finalizers, annotations })
    // While the watch lags, the object must not be claimed twice.
    const key = keyOf(object)
    const { resourceVersion: version = '' } = object.metadata
    if (this.reflector.identity(key)?.resourceVersion === version)
      this.#claims.set(key, { version, finalizers, annotations })
  }

  /** Takes finalizer and mark off; an object that is gone is no error. @throws Stale */
  async release(object: T): Promise<void> {
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== this.#options.finalizer)
    const annotations = { [MANAGED_BY]: null, [PROJECT]: null }
    await this.#patch(object, { finalizers, annotations }).catch(ignoreNotFound)
  }

  /**
   * Applies our part of the status; an object that is gone is no error.
   * @param clear a part of the status to remove first, whoever wrote it: an apply that does not name it leaves what
   * others wrote
   * @returns the version that was written; null when the object is gone
   * @throws Stale
   */
  applyStatus(object: T, status: object, clear: object | null): Promise<string | null> {
    return this.#writes.run(() => this.#applyStatus(object, status, clear))
  }

  async #applyStatus(object: T, status: object, clear: object | null): Promise<string | null> {
    const { transport, resource } = this.#options
    const { name, namespace = '' } = object.metadata
    // With the UID: an object that was made again under this name is another one.
    const uid = uidOf(object)
    const path = objectPath(resource, { namespace, name }, 'status')
    if (clear !== null)
      await transport
        .request({
          method: 'PATCH',
          path,
          query: { fieldManager: FIELD_MANAGER },
          contentType: 'application/merge-patch+json',
          body: { metadata: { uid }, status: clear },
        })
        .catch(ignoreNotFound)
        .catch(staleOr)
    const { apiVersion, kind } = resource
    const written = await transport
      .request<T>({
        method: 'PATCH',
        path,
        query: { fieldManager: FIELD_MANAGER, force: true },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion, kind, metadata: { name, namespace, uid }, status },
      })
      .catch(ignoreNotFound)
      .catch(staleOr)
    return written?.metadata.resourceVersion ?? null
  }

  /** Patches this version of this object only. */
  async #patch(object: T, metadata: Readonly<Record<string, unknown>>): Promise<void> {
    const { name, namespace = '', resourceVersion } = object.metadata
    const request: KubeRequest = {
      method: 'PATCH',
      path: objectPath(this.#options.resource, { namespace, name }),
      query: { fieldManager: FIELD_MANAGER },
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid: uidOf(object), resourceVersion, ...metadata } },
      // A second attempt would fail on the version that the first one made.
      retry: false,
      // The watch shows the result.
      read: false,
    }
    await this.#writes.run(() => this.#options.transport.request(request)).catch(staleOr)
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error
}

/** A write's error: the object is another version, has another UID, or is gone. @throws Stale for these; else the error */
export function staleOr(error: unknown): never {
  if (isConflict(error) || isNotFound(error)) throw new Stale((error as Error).message)
  // A finalizer cannot be added to an object that is being deleted; it was read before its deletion began.
  if (error instanceof KubeError && error.status === 422) throw new Stale(error.message)
  throw error
}
