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

/** The object has changed since it was read: read it again. */
export class Stale extends Error {
  override readonly name = 'Stale'
}

/** Our field manager: we own what we apply, and leave what others wrote. */
const FIELD_MANAGER = 'spout'
/** The API server answers this many at once as fast as more, and refuses everybody's requests above 200. */
const MOST_WRITES = 64

/**
 * Writes to objects that were read from a cluster, a limited number at once. Each names the UID that was read: an
 * object that was made again under the same name is another one. An object that is gone is no error for a status.
 */
export class ObjectWrites {
  readonly #transport: Transport
  readonly #atOnce = new Semaphore(MOST_WRITES)

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Patches the metadata of this version of the object only.
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
      // A second attempt would fail on the version that the first one made.
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
   * @param resourceVersion only this version of the object; left out: any
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

/** A write's error: the object is another version, has another UID, or is gone. @throws Stale for these; else the error */
export function staleOr(error: unknown): never {
  if (isConflict(error) || isNotFound(error)) throw new Stale((error as Error).message)
  // A finalizer cannot be added to an object that is being deleted; it was read before its deletion began.
  if (error instanceof KubeError && error.status === 422) throw new Stale(error.message)
  throw error
}
