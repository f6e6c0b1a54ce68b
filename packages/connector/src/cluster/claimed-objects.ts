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

/** The object is not what was read any more: look again. */
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
  /** Objects that load balancers exist for: their absence from the first list is not believed lightly. */
  readonly knownKeys: readonly string[]
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
  /** Keeps an object until its load balancer is gone. */
  readonly finalizer: string
  /** Stands in `spout.dev/managed-by` of the objects that are claimed. */
  readonly mark: string
}

/** Our field manager: what we apply is ours, and what others wrote stays theirs. */
const FIELD_MANAGER = 'spout'
/** The API server answers so many at once as quickly as more, and refuses everybody's above 200. */
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
  /** What was put on an object, by key, until the watch shows more than the version it was put on. */
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

  /** `namespace/name`; with what we put on it, also before the watch has shown that. */
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

  /** The object is missing, but not believed to be deleted. */
  isHeld(key: string): boolean {
    return this.reflector.isHeld(key)
  }

  /**
   * Asks the API server itself whether the object of this UID is gone, whatever was shown of it up to now.
   * @throws Error when that cannot be said now
   */
  isGone(key: string, uid: string): Promise<boolean> {
    const [namespace = '', name = ''] = key.split('/', 2)
    return this.reflector.isGone({ namespace, name }, uid)
  }

  /** Whether finalizer and mark are on it. */
  isClaimed({ metadata }: T): boolean {
    const { finalizer, mark } = this.#options
    return (metadata.finalizers?.includes(finalizer) ?? false) && metadata.annotations?.[MANAGED_BY] === mark
  }

  /**
   * Puts finalizer and mark on an object. The write is of the version that was read, of that UID.
   * @param projectId written down too where there are several projects
   * @throws Stale when the object was changed meanwhile
   */
  async claim(object: T, projectId?: string): Promise<void> {
    const { finalizer, mark } = this.#options
    const finalizers = [...new Set([...(object.metadata.finalizers ?? []), finalizer])]
    const project: Record<string, string> = projectId === undefined ? {} : { [PROJECT]: projectId }
    const annotations = { [MANAGED_BY]: mark, ...project }
    await this.#patch(object, { finalizers, annotations })
    // A watch that lags must not make it be claimed twice.
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
   * @param clear part of the status that is taken away first, whoever wrote it: an apply that does not name it leaves what
   * others wrote
   * @returns the version that has it; null for none
   * @throws Stale
   */
  applyStatus(object: T, status: object, clear: object | null): Promise<string | null> {
    return this.#writes.run(() => this.#applyStatus(object, status, clear))
  }

  async #applyStatus(object: T, status: object, clear: object | null): Promise<string | null> {
    const { transport, resource } = this.#options
    const { name, namespace = '' } = object.metadata
    // The UID: an object that was made again under this name is another one.
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

  /** Of this version of this object alone. */
  async #patch(object: T, metadata: Readonly<Record<string, unknown>>): Promise<void> {
    const { name, namespace = '', resourceVersion } = object.metadata
    const request: KubeRequest = {
      method: 'PATCH',
      path: objectPath(this.#options.resource, { namespace, name }),
      query: { fieldManager: FIELD_MANAGER },
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid: uidOf(object), resourceVersion, ...metadata } },
      // Doing it twice would meet its own first time.
      retry: false,
      // What came of it the watch tells.
      read: false,
    }
    await this.#writes.run(() => this.#options.transport.request(request)).catch(staleOr)
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error
}

/** What was read is not what is there: another version, another UID, or gone. */
function staleOr(error: unknown): never {
  if (isConflict(error) || isNotFound(error)) throw new Stale((error as Error).message)
  // A finalizer cannot be added to what is being deleted: it was read before it was asked to go.
  if (error instanceof KubeError && error.status === 422) throw new Stale(error.message)
  throw error
}
