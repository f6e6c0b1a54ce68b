import { ClaimedObjects, type KindReflector, ReflectedCluster, ServiceSlices, trimNode } from '@spout/connector'
import {
  type DeletionGuardPolicy,
  ENDPOINT_SLICES,
  type EndpointSlice,
  NODES,
  type Node,
  type ObjectEvent,
  Reflector,
  SERVICES,
  type Service,
  type Transport,
} from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import { FINALIZER } from '../names.ts'
import type { WrittenStatus } from '../write-back/status.ts'
import { trimService } from './trim-service.ts'

export interface KubeClusterOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly className: string
  /** Only this namespace; null for all. */
  readonly namespace: string | null
  /** Only EndpointSlices of these managers (label `endpointslice.kubernetes.io/managed-by`). Empty or left out: all. */
  readonly slicesBy?: readonly string[]
  /** EndpointSlices that other intents use as well; this cluster starts and stops them. Left out: it makes its own. */
  readonly slices?: ServiceSlices
  /** Keys of Services that have load balancers. If the first list lacks them, the deletion guard may hold them. */
  readonly knownServices: readonly string[]
  /** Records an event. */
  readonly tell: (service: Service, event: ObjectEvent) => void
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

/** The `Cluster` that reads Services, their EndpointSlices and nodes from an API server, and writes to it. */
export class KubeCluster extends ReflectedCluster<ClusterChange> implements Cluster {
  override readonly reflectors: readonly KindReflector[]
  readonly #options: KubeClusterOptions
  readonly #services: ClaimedObjects<Service>
  readonly #slices: ServiceSlices
  readonly #nodes: Reflector<Node, Node>

  constructor(options: KubeClusterOptions) {
    super()
    this.#options = options
    const { transport, clock, log, namespace, knownServices, className, slicesBy, slices, deletionGuard } = options
    const common = { transport, clock, log, ...(deletionGuard === undefined ? {} : { deletionGuard }) }
    this.#services = new ClaimedObjects<Service>({
      ...common,
      resource: SERVICES,
      trim: trimService,
      namespace,
      knownKeys: knownServices,
      finalizer: FINALIZER,
      mark: className,
    })
    this.#slices =
      slices ?? new ServiceSlices({ ...common, namespace, ...(slicesBy === undefined ? {} : { slicesBy }) })
    this.#nodes = new Reflector<Node, Node>({ ...common, resource: NODES, trim: trimNode })
    this.reflectors = [
      { kind: SERVICES.kind, reflector: this.#services.reflector },
      { kind: ENDPOINT_SLICES.kind, reflector: this.#slices.reflector },
      { kind: NODES.kind, reflector: this.#nodes },
    ]
    this.#services.onChange((key) => this.changed({ type: 'service', key }))
    this.#slices.onChange((key) => this.changed({ type: 'slices', key }))
    this.#nodes.onChange(() => this.changed({ type: 'nodes' }))
  }

  service(key: string): Service | undefined {
    return this.#services.get(key)
  }

  services(): Iterable<Service> {
    return this.#services.all()
  }

  isHeld(key: string): boolean {
    return this.#services.isHeld(key)
  }

  isGone(key: string, uid: string): Promise<boolean> {
    return this.#services.isGone(key, uid)
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    return this.#slices.of(serviceKey)
  }

  *nodes(): Iterable<Node> {
    for (const [, node] of this.#nodes.list()) yield node
  }

  barred(): null {
    return null
  }

  notice(): null {
    return null
  }

  isClaimed(service: Service): boolean {
    return this.#services.isClaimed(service)
  }

  /** @param projectId also written to the Service; left out when there is only one project */
  claim(service: Service, projectId?: string): Promise<void> {
    return this.#services.claim(service, projectId)
  }

  release(service: Service): Promise<void> {
    return this.#services.release(service)
  }

  writeStatus(service: Service, { ingress, conditions }: WrittenStatus): Promise<string | null> {
    const isCleared = ingress.length === 0 && (service.status?.loadBalancer?.ingress ?? []).length > 0
    const status = {
      loadBalancer: ingress.length === 0 ? {} : { ingress },
      ...(conditions.length === 0 ? {} : { conditions }),
    }
    return this.#services.applyStatus(service, status, isCleared ? { loadBalancer: { ingress: null } } : null)
  }

  tell(service: Service, event: ObjectEvent): void {
    this.#options.tell(service, event)
  }
}
