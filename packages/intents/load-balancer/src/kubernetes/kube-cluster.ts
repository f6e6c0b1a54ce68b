import { type BackendServices, type KindReflector, type ServiceSlices, staleOr } from '@spout/connector'
import {
  CustomObjects,
  type CustomStatus,
  type EndpointSlice,
  type ObjectEvent,
  type Service,
  type Transport,
} from '@spout/kube'
import { type Clock, Listeners, type Logger } from '@spout/runtime'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import { LOAD_BALANCERS, type LoadBalancerObject } from '../load-balancer-object.ts'
import { FIELD_MANAGER, FINALIZER } from '../names.ts'

export interface KubeClusterOptions {
  readonly transport: Transport
  /** Only this namespace; null for all. */
  readonly namespace: string | null
  /** Who creates slices and backends also starts and stops them. */
  readonly slices: ServiceSlices
  readonly backends: BackendServices
  /** Records an event for an object. */
  readonly tell: (object: LoadBalancerObject, event: ObjectEvent) => void
  readonly clock: Clock
  readonly log: Logger
}

/** The `Cluster` that reads objects from an API server, and writes to it. */
export class KubeCluster implements Cluster {
  readonly #objects: CustomObjects<LoadBalancerObject>
  readonly #slices: ServiceSlices
  readonly #backends: BackendServices
  readonly #record: KubeClusterOptions['tell']
  readonly #listeners = new Listeners<ClusterChange>()

  constructor({ transport, namespace, slices, backends, tell, clock, log }: KubeClusterOptions) {
    const resource = LOAD_BALANCERS
    this.#objects = new CustomObjects({ transport, resource, fieldManager: FIELD_MANAGER, namespace, clock, log })
    this.#slices = slices
    this.#backends = backends
    this.#record = tell
    this.#objects.reflector.onChange((key) => this.#tell({ type: 'object', key }))
    this.#slices.reflector.onChange((key) => this.#tell({ type: 'slice', key }))
    this.#backends.onChange((key) => this.#tell({ type: 'service', key }))
  }

  get reflectors(): readonly KindReflector[] {
    return [{ kind: LOAD_BALANCERS.kind, reflector: this.#objects.reflector }]
  }

  get ready(): boolean {
    return this.#objects.reflector.hasSynced && this.#backends.ready
  }

  start(): void {
    this.#objects.reflector.start()
  }

  async stop(): Promise<void> {
    await this.#objects.reflector.close()
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  object(key: string): LoadBalancerObject | undefined {
    return this.#objects.get(key)
  }

  objects(): Iterable<LoadBalancerObject> {
    return this.#objects.all()
  }

  /** Never true here: this cluster has the objects of all projects. */
  isElsewhere(): boolean {
    return false
  }

  service(key: string): Service | undefined {
    return this.#backends.service(key)
  }

  services(namespace: string): Iterable<Service> {
    return this.#backends.ofNamespace(namespace)
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    return this.#slices.of(serviceKey)
  }

  slice(key: string): EndpointSlice | undefined {
    return this.#slices.reflector.get(key)
  }

  claim(object: LoadBalancerObject): Promise<void> {
    return this.#objects.addFinalizer(object, FINALIZER).catch(staleOr)
  }

  release(object: LoadBalancerObject): Promise<void> {
    return this.#objects.removeFinalizer(object, FINALIZER).catch(staleOr)
  }

  writeStatus(object: LoadBalancerObject, status: CustomStatus): Promise<void> {
    return this.#objects.writeStatus(object, status).catch(staleOr)
  }

  tell(object: LoadBalancerObject, event: ObjectEvent): void {
    this.#record(object, event)
  }

  #tell(change: ClusterChange): void {
    this.#listeners.tell(change)
  }
}
