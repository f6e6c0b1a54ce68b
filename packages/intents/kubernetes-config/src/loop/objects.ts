import { GROUP, VERSION } from '@spout/custom-resources'
import { type Applied, KubeClient, type KubeObject, Reflector, type Resource, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { ConfigObject, ConfigStatus } from '../handlers/handler.ts'
import { isSameStatus } from './status.ts'

export const FIELD_MANAGER = 'spout-config'

export interface ObjectsOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
}

export const resourceOf = (kind: string): Resource<ConfigObject> => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
})

/** The objects of one kind in memory, and writes to them. A write that would change nothing is skipped. */
export class Objects {
  readonly kind: string
  readonly reflector: Reflector<ConfigObject, ConfigObject>
  readonly #client: KubeClient
  readonly #resource: Resource<ConfigObject>
  /** The last write, until the reflector shows it. */
  readonly #written = new Map<string, { readonly seenVersion: string; readonly status: ConfigStatus }>()

  constructor(kind: string, { transport, clock, log }: ObjectsOptions) {
    this.kind = kind
    this.#client = new KubeClient(transport)
    this.#resource = resourceOf(kind)
    this.reflector = new Reflector({ transport, clock, log, resource: this.#resource, trim })
  }

  /** The object with the version that was seen. */
  get(name: string): ConfigObject | undefined {
    const object = this.reflector.get(name)
    const identity = this.reflector.identity(name)
    if (object === undefined || identity === undefined) return undefined
    return { ...object, metadata: { ...object.metadata, resourceVersion: identity.resourceVersion } }
  }

  *all(): Iterable<ConfigObject> {
    for (const [, object] of this.reflector.list()) yield object
  }

  /** @throws KubeError `Conflict` when it has changed since it was seen */
  async addFinalizer({ metadata }: ConfigObject, finalizer: string): Promise<void> {
    await this.#client.addFinalizer(this.#resource, metadata, finalizer)
  }

  /** @throws KubeError `Conflict` when it has changed since it was seen */
  async removeFinalizer({ metadata }: ConfigObject, finalizer: string): Promise<void> {
    await this.#client.removeFinalizer(this.#resource, metadata, finalizer)
    this.#written.delete(metadata.name)
  }

  async writeStatus({ metadata, status: seen }: ConfigObject, status: ConfigStatus): Promise<void> {
    const { name, resourceVersion = '' } = metadata
    const before = this.#written.get(name)
    const known = before?.seenVersion === resourceVersion ? before.status : seen
    if (isSameStatus(known, status)) return
    const object = { metadata: { name }, status } as Applied<ConfigObject>
    await this.#client.apply(this.#resource, object, { fieldManager: FIELD_MANAGER, subresource: 'status' })
    this.#written.set(name, { seenVersion: resourceVersion, status })
  }

  /** Creates it, or sets the fields of the spec. */
  async apply(name: string, spec: object): Promise<ConfigObject | null> {
    return this.#client.apply(this.#resource, { metadata: { name }, spec }, { fieldManager: FIELD_MANAGER })
  }

  async delete(name: string): Promise<void> {
    await this.#client.delete(this.#resource, { name })
    this.#written.delete(name)
  }
}

function trim({ metadata, spec, status }: ConfigObject): ConfigObject {
  const { name, uid, generation, creationTimestamp, deletionTimestamp, finalizers } = metadata
  const kept: KubeObject['metadata'] = { name, uid, generation, creationTimestamp, deletionTimestamp, finalizers }
  return { metadata: kept, spec: spec ?? {}, ...(status === undefined ? {} : { status }) }
}
