import type { Clock, Logger } from '@spout/runtime'
import { Reflector } from '../reflector/reflector.ts'
import type { Transport } from '../transport/transport.ts'
import type { KubeObject, ObjectMeta, Resource } from '../types/index.ts'
import { type Applied, KubeClient } from '../write/kube-client.ts'
import type { CustomObject, CustomStatus } from './custom-object.ts'
import { isSameStatus } from './status.ts'

export interface CustomObjectsOptions<T extends CustomObject> {
  readonly transport: Transport
  readonly resource: Resource<T>
  /** Owner of the fields that we write. */
  readonly fieldManager: string
  /** Only this namespace; null or left out: all namespaces. */
  readonly namespace?: string | null
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The objects of one kind in memory, and writes to them. A write that would change nothing is skipped. Keys are
 * `namespace/name`, or the name of an object without a namespace.
 */
export class CustomObjects<T extends CustomObject = CustomObject> {
  readonly reflector: Reflector<T, T>
  readonly #client: KubeClient
  readonly #options: CustomObjectsOptions<T>
  /** The last write, until the reflector shows it. */
  readonly #written = new Map<string, { readonly seenVersion: string; readonly status: CustomStatus }>()

  constructor(options: CustomObjectsOptions<T>) {
    const { transport, resource, namespace = null, clock, log } = options
    this.#options = options
    this.#client = new KubeClient(transport)
    const only = namespace === null ? {} : { namespace }
    this.reflector = new Reflector({ transport, clock, log, resource, trim: trim<T>, ...only })
  }

  /** The object with the version that was seen. */
  get(key: string): T | undefined {
    const object = this.reflector.get(key)
    const identity = this.reflector.identity(key)
    if (object === undefined || identity === undefined) return undefined
    return { ...object, metadata: { ...object.metadata, resourceVersion: identity.resourceVersion } }
  }

  *all(): Iterable<T> {
    for (const [, object] of this.reflector.list()) yield object
  }

  /** @throws KubeError `Conflict` when it has changed since it was seen */
  async addFinalizer({ metadata }: T, finalizer: string): Promise<void> {
    await this.#client.addFinalizer(this.#options.resource, metadata, finalizer)
  }

  /** @throws KubeError `Conflict` when it has changed since it was seen */
  async removeFinalizer({ metadata }: T, finalizer: string): Promise<void> {
    await this.#client.removeFinalizer(this.#options.resource, metadata, finalizer)
    this.#written.delete(keyOf(metadata))
  }

  async writeStatus({ metadata, status: seen }: T, status: CustomStatus): Promise<void> {
    const { name, namespace, resourceVersion = '' } = metadata
    const before = this.#written.get(keyOf(metadata))
    const known = before?.seenVersion === resourceVersion ? before.status : seen
    if (isSameStatus(known, status)) return
    const { resource, fieldManager } = this.#options
    const object = { metadata: named(name, namespace), status } as Applied<T>
    await this.#client.apply(resource, object, { fieldManager, subresource: 'status' })
    this.#written.set(keyOf(metadata), { seenVersion: resourceVersion, status })
  }

  /** Creates it, or sets the fields of the spec. */
  async apply(name: string, spec: object): Promise<T | null> {
    const { resource, fieldManager } = this.#options
    return this.#client.apply(resource, { metadata: { name }, spec } as unknown as Applied<T>, { fieldManager })
  }

  async delete(name: string): Promise<void> {
    await this.#client.delete(this.#options.resource, { name })
    this.#written.delete(name)
  }
}

const named = (name: string, namespace: string | undefined) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
})

const keyOf = ({ namespace, name }: ObjectMeta): string => (namespace === undefined ? name : `${namespace}/${name}`)

function trim<T extends CustomObject>({ metadata, spec, status }: T): T {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, finalizers } = metadata
  const own = { uid, generation, creationTimestamp, deletionTimestamp, finalizers }
  const kept: KubeObject['metadata'] = { ...named(name, namespace), ...own }
  return { metadata: kept, spec: spec ?? {}, ...(status === undefined ? {} : { status }) } as T
}
