import {
  isConflict,
  isNotFound,
  KubeError,
  type KubeObject,
  type KubeRequest,
  objectPath,
  type Resource,
  type Transport,
} from '@spout/kube'
import { Semaphore } from '@spout/runtime'
import { keyOf, uidOf } from '../objects.ts'

/** The object has changed since it was read, or is gone. Read it again before another attempt. */
export class Stale extends Error {
  override readonly name = 'Stale'
}

/** Our field manager in server-side apply: we own the fields that we apply, and leave those of others. */
const FIELD_MANAGER = 'spout'
/** Writes at once. More are not faster, and above 200 the API server refuses requests of everybody. */
const MOST_WRITES = 64

/**
 * Writes to objects that were read from a cluster, a limited number at once. Each write names the UID that was read, so
 * that it does not reach a new object of the same name.
 */
export class ObjectWrites {
  readonly #transport: Transport
  readonly #atOnce = new Semaphore(MOST_WRITES)

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Patches the metadata, of exactly this version of the object.
   * @throws Stale when it has changed since, or is gone
   */
  async patchMetadata<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    metadata: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { resourceVersion } = object.metadata
    await this.#patch(resource, object, {
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid: uidOf(object), resourceVersion, ...metadata } },
      // Not repeated after a lost answer: a second attempt would fail on the version that the first one made.
      retry: false,
      // The watch shows the result.
      read: false,
    }).catch(staleOr)
  }

  /**
   * Applies our part of the status.
   * @returns the version that was written; null when the object is gone
   * @throws Stale when it has another UID
   */
  applyStatus<T extends KubeObject>(resource: Resource<T>, object: T, status: object): Promise<string | null> {
    const { apiVersion, kind } = resource
    const { name, namespace } = object.metadata
    return this.#writeStatus(resource, object, {
      query: { force: true },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion, kind, metadata: { name, namespace, uid: uidOf(object) }, status },
    })
  }

  /**
   * Replaces the named fields of the status, whoever wrote them; null removes one.
   * @param resourceVersion patches only this version of the object; left out: any version
   * @returns the version that was written; null when the object is gone
   * @throws Stale when it has another UID, or has changed since
   */
  patchStatus<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    status: object,
    resourceVersion?: string,
  ): Promise<string | null> {
    const version = resourceVersion === undefined ? {} : { resourceVersion }
    return this.#writeStatus(resource, object, {
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid: uidOf(object), ...version }, status },
    })
  }

  async #writeStatus<T extends KubeObject>(resource: Resource<T>, object: T, request: Write): Promise<string | null> {
    try {
      const written = await this.#patch(resource, object, request, 'status')
      return written.metadata.resourceVersion ?? null
    } catch (error) {
      if (isNotFound(error)) return null
      if (isConflict(error)) throw new Stale(`${resource.kind} ${keyOf(object)} has changed`)
      throw error
    }
  }

  #patch<T extends KubeObject>(
    resource: Resource<T>,
    { metadata: { name, namespace } }: T,
    { query, ...request }: Write,
    subresource?: 'status',
  ): Promise<T> {
    const path = objectPath(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, subresource)
    return this.#atOnce.run(() =>
      this.#transport.request<T>({
        ...request,
        ...{ method: 'PATCH', path, query: { fieldManager: FIELD_MANAGER, ...query } },
      }),
    )
  }
}

type Write = Pick<KubeRequest, 'query' | 'contentType' | 'body' | 'retry' | 'read'>

/**
 * @throws Stale when a write failed because the object has another version or UID, or is gone; else the error itself
 */
export function staleOr(error: unknown): never {
  if (isConflict(error) || isNotFound(error)) throw new Stale((error as Error).message)
  // The object was read before its deletion began: a finalizer cannot be added to an object that is being deleted.
  if (error instanceof KubeError && error.status === 422) throw new Stale(error.message)
  throw error
}
