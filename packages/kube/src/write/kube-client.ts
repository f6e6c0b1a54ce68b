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
  /** The field manager that owns the applied fields: at most 128 characters. It must never change. */
  readonly fieldManager: string
  /** Whether to take over fields of other managers (the default). False: a Conflict names them instead. */
  readonly force?: boolean
  readonly subresource?: 'status'
  readonly signal?: AbortSignal
}

export interface MergePatchOptions {
  /** The version for which the patch was made. If the object has changed, the result is a Conflict. */
  readonly resourceVersion?: string
  readonly subresource?: 'status'
  readonly signal?: AbortSignal
}

export interface DeleteOptions {
  /** Deletes only the object with this UID, not a later one of the same name. */
  readonly uid?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly signal?: AbortSignal
}

/** Exactly the fields of an object that we own. */
export type Applied<T extends KubeObject> = Pick<T, 'metadata'> & Partial<T>

type Named = Pick<ObjectMeta, 'name' | 'namespace' | 'resourceVersion' | 'finalizers'>

/**
 * Reads and writes single objects, without a cache. For a missing object it returns null; every other refusal is thrown
 * as a KubeError.
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

  /** @throws KubeError `AlreadyExists` (isAlreadyExists), also when we created it and the first answer was lost */
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
   * Server-side apply. The object holds exactly the fields that we own; fields that we owned before and left out are
   * removed. Creates the object if it is missing; for a sub-resource of a missing object it returns null.
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
        // The body is JSON, which is valid YAML.
        contentType: 'application/apply-patch+yaml',
        body: typed(resource, object),
        signal,
      }),
    )
  }

  /** Patches by RFC 7386: null removes a field, and lists are replaced as a whole. */
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
   * Keeps an object from being deleted until we remove the finalizer. The list is written for the version that was
   * read, so finalizers of others are kept.
   *
   * @param metadata as it was read, with its resourceVersion and finalizers
   * @throws KubeError `Conflict` when it has changed since; 422 when it is already being deleted
   */
  addFinalizer<T extends KubeObject>(resource: Resource<T>, metadata: Named, finalizer: string): Promise<T | null> {
    const { finalizers = [] } = metadata
    return this.#setFinalizers(resource, metadata, [...finalizers.filter((other) => other !== finalizer), finalizer])
  }

  /** Removes a finalizer; otherwise like addFinalizer. An object that is being deleted may disappear with it. */
  removeFinalizer<T extends KubeObject>(resource: Resource<T>, metadata: Named, finalizer: string): Promise<T | null> {
    const { finalizers = [] } = metadata
    return this.#setFinalizers(
      resource,
      metadata,
      finalizers.filter((other) => other !== finalizer),
    )
  }

  /** @returns `gone` when it was missing, or has another UID */
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
    // Without a version, a finalizer that another client has added would be lost.
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
