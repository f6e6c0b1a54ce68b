import {
  type BackendServices,
  type KindReflector,
  ReflectedCluster,
  type ServiceSlices,
  staleOr,
} from '@spout/connector'
import {
  CustomObjects,
  type CustomStatus,
  type EndpointSlice,
  type ObjectEvent,
  type Service,
  type Transport,
} from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
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
export class KubeCluster extends ReflectedCluster<ClusterChange> implements Cluster {
  override readonly reflectors: readonly KindReflector[]
  readonly #objects: CustomObjects<LoadBalancerObject>
  readonly #slices: ServiceSlices
  readonly #backends: BackendServices
  readonly #record: KubeClusterOptions['tell']

  constructor({ transport, namespace, slices, backends, tell, clock, log }: KubeClusterOptions) {
    super()
    const resource = LOAD_BALANCERS
    this.#objects = new CustomObjects({ transport, resource, fieldManager: FIELD_MANAGER, namespace, clock, log })
    this.reflectors = [{ kind: LOAD_BALANCERS.kind, reflector: this.#objects.reflector }]
    this.#slices = slices
    this.#backends = backends
    this.#record = tell
    this.#objects.reflector.onChange((key) => this.changed({ type: 'object', key }))
    this.#slices.reflector.onChange((key) => this.changed({ type: 'slice', key }))
    this.#backends.onChange((key) => this.changed({ type: 'service', key }))
  }

  override get ready(): boolean {
    return this.#backends.ready && super.ready
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
}
