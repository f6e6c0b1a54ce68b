import {
  byLabel,
  type DeletionGuardPolicy,
  ENDPOINT_SLICES,
  type EndpointSlice,
  Reflector,
  SERVICE_NAME_LABEL,
  type Transport,
} from '@spout/kube'
import { type Clock, Listeners, type Logger } from '@spout/runtime'
import { trimSlice } from './trim.ts'

export interface ServiceSlicesOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** Only this namespace; null for all. */
  readonly namespace: string | null
  /**
   * Managers whose EndpointSlices count, as in label `endpointslice.kubernetes.io/managed-by`; empty or left out: all.
   */
  readonly slicesBy?: readonly string[]
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

const BY_SERVICE = 'service'

/** The EndpointSlices of a cluster, kept in memory by their Service. */
export class ServiceSlices {
  readonly reflector: Reflector<EndpointSlice, EndpointSlice>
  readonly #listeners = new Listeners<string>()
  /** The Service of each slice, kept because a deleted slice no longer names it. */
  readonly #serviceOfSlice = new Map<string, string>()

  constructor({ transport, clock, log, namespace, slicesBy, deletionGuard }: ServiceSlicesOptions) {
    this.reflector = new Reflector<EndpointSlice, EndpointSlice>({
      ...{ transport, clock, log, resource: ENDPOINT_SLICES },
      ...(deletionGuard === undefined ? {} : { deletionGuard }),
      ...(namespace === null ? {} : { namespace }),
      trim: (slice) => trimSlice(slice, slicesBy),
      indexes: { [BY_SERVICE]: byLabel(SERVICE_NAME_LABEL) },
    })
    this.reflector.onChange((key) => this.#changed(key))
  }

  /** Calls back with the key of each Service whose slices changed. */
  onChange(listener: (serviceKey: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  of(serviceKey: string): readonly EndpointSlice[] {
    return this.reflector.keysBy(BY_SERVICE, serviceKey).flatMap((key) => this.reflector.get(key) ?? [])
  }

  #changed(key: string): void {
    const slice = this.reflector.get(key)
    const before = this.#serviceOfSlice.get(key)
    const name = slice?.metadata.labels?.[SERVICE_NAME_LABEL]
    const after = slice === undefined || name === undefined ? undefined : `${slice.metadata.namespace ?? ''}/${name}`
    if (after === undefined) this.#serviceOfSlice.delete(key)
    else this.#serviceOfSlice.set(key, after)
    for (const service of new Set([before, after])) if (service !== undefined) this.#listeners.tell(service)
  }
}
