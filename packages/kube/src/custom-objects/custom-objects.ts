import type { Clock, Logger } from '@spout/runtime'
import { Reflector } from '../reflector/reflector.ts'
import type { Transport } from '../transport/transport.ts'
import type { KubeObject, Resource } from '../types/index.ts'
import { type Applied, KubeClient } from '../write/kube-client.ts'
import { UnseenWrites } from '../write/unseen-writes.ts'
import type { CustomObject, CustomStatus } from './custom-object.ts'
import { isSameStatus } from './status.ts'

export interface CustomObjectsOptions<T extends CustomObject> {
  readonly transport: Transport
  readonly resource: Resource<T>
  /** The field manager under which we apply. */
  readonly fieldManager: string
  /** Only this namespace; null or left out: all namespaces. */
  readonly namespace?: string | null
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The objects of one custom kind, kept in memory, and writes to them. Status writes that would change nothing are
 * skipped. Keys are `namespace/name`, or the name alone for cluster-wide kinds.
 */
export class CustomObjects<T extends CustomObject = CustomObject> {
  readonly reflector: Reflector<T, T>
  readonly #client: KubeClient
  readonly #options: CustomObjectsOptions<T>
  readonly #written: UnseenWrites<CustomStatus>

  constructor(options: CustomObjectsOptions<T>) {
    const { transport, resource, namespace = null, clock, log } = options
    this.#options = options
    this.#client = new KubeClient(transport)
    this.#written = new UnseenWrites(clock)
    const only = namespace === null ? {} : { namespace }
    this.reflector = new Reflector({ transport, clock, log, resource, trim: trim<T>, ...only })
  }

  /**
   * The object with its version, and with the status that we wrote last, even before the watch shows it. Compared with
   * the older status, a change back to it would be skipped as no change.
   */
  get(key: string): T | undefined {
    const object = this.reflector.get(key)
    const identity = this.reflector.identity(key)
    if (object === undefined || identity === undefined) return undefined
    const seen = { ...object, metadata: { ...object.metadata, resourceVersion: identity.resourceVersion } }
    const status = this.#written.of(seen)
    return status === null ? seen : { ...seen, status }
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
    this.#written.forget(metadata.uid ?? '')
  }

  /** Applies our status, unless it would change nothing. An object that is gone is no error. */
  async writeStatus(object: T, status: CustomStatus): Promise<void> {
    if (isSameStatus(this.#written.of(object) ?? object.status, status)) return
    const { resource, fieldManager } = this.#options
    const { name, namespace } = object.metadata
    const ours = { metadata: named(name, namespace), status } as Applied<T>
    const written = await this.#client.apply(resource, ours, { fieldManager, subresource: 'status' })
    if (written !== null) this.#written.add(object, status, written.metadata.resourceVersion ?? '')
  }

  /** Creates an object without a namespace, or sets the fields of its spec. */
  async apply(name: string, spec: object): Promise<T | null> {
    const { resource, fieldManager } = this.#options
    return this.#client.apply(resource, { metadata: { name }, spec } as unknown as Applied<T>, { fieldManager })
  }

  async delete(name: string): Promise<void> {
    const uid = this.reflector.get(name)?.metadata.uid
    await this.#client.delete(this.#options.resource, { name })
    if (uid !== undefined) this.#written.forget(uid)
  }
}

const named = (name: string, namespace: string | undefined) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
})

function trim<T extends CustomObject>({ metadata, spec, status }: T): T {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, finalizers } = metadata
  const own = { uid, generation, creationTimestamp, deletionTimestamp, finalizers }
  const kept: KubeObject['metadata'] = { ...named(name, namespace), ...own }
  return { metadata: kept, spec: spec ?? {}, ...(status === undefined ? {} : { status }) } as T
}
