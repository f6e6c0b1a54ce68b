import { isConflict, isNotFound } from '../transport/errors.ts'
import type { Transport } from '../transport/transport.ts'
import {
  collectionPath,
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
  objectPath,
  type Resource,
} from '../types/index.ts'

export interface ApplyOptions {
  /** Who owns the fields that are named in the object: at most 128 characters, the same for the life of the product. */
  readonly fieldManager: string
  /** Take fields over that another manager owns; else that is a Conflict which names them. Left out: yes. */
  readonly force?: boolean
  readonly subresource?: 'status'
  readonly signal?: AbortSignal
}

export interface MergePatchOptions {
  /** The version that the patch was made for; a Conflict when the object is another by now. */
  readonly resourceVersion?: string
  readonly subresource?: 'status'
  readonly signal?: AbortSignal
}

export interface DeleteOptions {
  /** Only the object with this UID: not one made since under the same name. */
  readonly uid?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly signal?: AbortSignal
}

/** What is written of an object: the fields that are ours and no others. */
export type Applied<T extends KubeObject> = Pick<T, 'metadata'> & Partial<T>

type Named = Pick<ObjectMeta, 'name' | 'namespace' | 'resourceVersion' | 'finalizers'>

/**
 * Single objects, read and written. What is not there is `null`, never an exception; every other refusal is a KubeError.
 * Keeps nothing.
 */
export class KubeClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    options: { readonly deadlineMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<T | null> {
    return orNull(this.#transport.request<T>({ method: 'GET', path: objectPath(resource, name), ...options }))
  }

  /** @throws KubeError `AlreadyExists` (isAlreadyExists), also when it was we who made it and the first answer got lost */
  create<T extends KubeObject>(resource: Resource<T>, object: T, signal?: AbortSignal): Promise<T> {
    const path = collectionPath(resource, object.metadata.namespace)
    return this.#transport.request<T>({ method: 'POST', path, body: typed(resource, object), signal })
  }

  /**
   * Replaces the whole object.
   *
   * @throws KubeError `Conflict` when it is not the version that `object` was made from
   */
  async replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: { readonly retry?: boolean; readonly deadlineMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<T | null> {
    const path = objectPath(resource, object.metadata)
    return orNull(this.#transport.request<T>({ method: 'PUT', path, body: typed(resource, object), ...options }))
  }

  /**
   * Server-side apply: the object holds the fields that are ours and nothing else; those that were ours and are not in
   * it any more go. Creates the object when there is none, unless it is a sub-resource that is written: null then.
   */
  async apply<T extends KubeObject>(
    resource: Resource<T>,
    object: Applied<T>,
    options: ApplyOptions,
  ): Promise<T | null> {
    const { fieldManager, force = true, subresource, signal } = options
    return orNull(
      this.#transport.request<T>({
        method: 'PATCH',
        path: objectPath(resource, object.metadata, subresource),
        query: { fieldManager, force },
        // JSON is YAML.
        contentType: 'application/apply-patch+yaml',
        body: typed(resource, object),
        signal,
      }),
    )
  }

  /** RFC 7386: null removes a field, lists are replaced whole. */
  async mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    patch: Readonly<Record<string, unknown>>,
    { resourceVersion, subresource, signal }: MergePatchOptions = {},
  ): Promise<T | null> {
    const metadata = { ...(patch['metadata'] as object | undefined), resourceVersion }
    return orNull(
      this.#transport.request<T>({
        method: 'PATCH',
        path: objectPath(resource, name, subresource),
        contentType: 'application/merge-patch+json',
        body: resourceVersion === undefined ? patch : { ...patch, metadata },
        signal,
      }),
    )
  }

  /**
   * Keeps the object from going before we say so. Others' finalizers are kept: the list is written for the version that
   * was read.
   *
   * @param metadata as it was read, with its resourceVersion and finalizers
   * @throws KubeError `Conflict` when it changed since; 422 when it is being deleted already
   */
  addFinalizer<T extends KubeObject>(resource: Resource<T>, metadata: Named, finalizer: string): Promise<T | null> {
    const { finalizers = [] } = metadata
    return this.#setFinalizers(resource, metadata, [...finalizers.filter((other) => other !== finalizer), finalizer])
  }

  /** As addFinalizer; the object may be gone for good with this. */
  removeFinalizer<T extends KubeObject>(resource: Resource<T>, metadata: Named, finalizer: string): Promise<T | null> {
    const { finalizers = [] } = metadata
    return this.#setFinalizers(
      resource,
      metadata,
      finalizers.filter((other) => other !== finalizer),
    )
  }

  /** @returns `gone` when it was not there, or was another one than the UID says */
  async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}): Promise<'deleted' | 'gone'> {
    const { uid, propagationPolicy, signal } = options
    try {
      await this.#transport.request<unknown>({
        method: 'DELETE',
        path: objectPath(resource, name),
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          ...(uid === undefined ? {} : { preconditions: { uid } }),
          ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
        },
        signal,
      })
      return 'deleted'
    } catch (error) {
      if (isNotFound(error) || (uid !== undefined && isConflict(error))) return 'gone'
      throw error
    }
  }

  #setFinalizers<T extends KubeObject>(
    resource: Resource<T>,
    metadata: Named,
    finalizers: readonly string[],
  ): Promise<T | null> {
    const { resourceVersion } = metadata
    // Without a version, a finalizer that somebody added meanwhile would be lost.
    if (!resourceVersion) throw new Error(`${resource.kind} ${metadata.name}: no resourceVersion given`)
    return this.mergePatch(resource, metadata, { metadata: { finalizers } }, { resourceVersion })
  }
}

const typed = <T extends object>({ apiVersion, kind }: Resource, object: T): T => ({ apiVersion, kind, ...object })

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
