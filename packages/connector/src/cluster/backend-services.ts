import { byNamespace, type EndpointSlice, Reflector, SERVICES, type Service, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { KindReflector } from './kind-reflector.ts'
import type { ServiceSlices } from './service-slices.ts'
import { picked } from './trim.ts'

export interface BackendServicesOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** Only this namespace; null for all. */
  readonly namespace: string | null
  /** Shared with others, so the creator starts and stops it. */
  readonly slices: ServiceSlices
}

const BY_NAMESPACE = 'namespace'

/** The Services that routes send requests to, of any type, with their EndpointSlices. */
export class BackendServices {
  readonly #services: Reflector<Service, Service>
  readonly #slices: ServiceSlices

  constructor({ transport, clock, log, namespace, slices }: BackendServicesOptions) {
    this.#slices = slices
    this.#services = new Reflector<Service, Service>({
      ...{ transport, clock, log, resource: SERVICES, trim, indexes: { [BY_NAMESPACE]: byNamespace } },
      ...(namespace === null ? {} : { namespace }),
    })
  }

  get reflectors(): readonly KindReflector[] {
    return [{ kind: 'BackendService', reflector: this.#services }]
  }

  get ready(): boolean {
    return this.#services.hasSynced && this.#slices.reflector.hasSynced
  }

  /** Calls back with the key of each Service that changed, or whose slices did. */
  onChange(listener: (serviceKey: string) => void): () => void {
    const unsubscribe = [this.#services.onChange(listener), this.#slices.onChange(listener)]
    return () => {
      for (const one of unsubscribe) one()
    }
  }

  /** @param key `namespace/name` */
  service(key: string): Service | undefined {
    return this.#services.get(key)
  }

  /** All Services of a namespace. */
  ofNamespace(namespace: string): readonly Service[] {
    return this.#services.keysBy(BY_NAMESPACE, namespace).flatMap((key) => this.#services.get(key) ?? [])
  }

  slicesOf(key: string): readonly EndpointSlice[] {
    return this.#slices.of(key)
  }

  start(): void {
    this.#services.start()
  }

  async stop(): Promise<void> {
    await this.#services.close()
  }
}

const trim = ({ metadata, spec }: Service): Service => ({
  metadata: picked(metadata, ['name', 'namespace', 'uid', 'labels', 'deletionTimestamp']),
  spec: {
    ...picked(spec, ['type', 'ipFamilies', 'clusterIP']),
    ...(Object.keys(spec?.selector ?? {}).length === 0 ? {} : { selector: {} }),
    ports: (spec?.ports ?? []).map((port) => picked(port, ['name', 'protocol', 'port', 'targetPort', 'appProtocol'])),
  },
})
