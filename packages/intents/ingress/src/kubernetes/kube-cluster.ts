import {
  ALL_DNS_ANNOTATIONS,
  type BackendServices,
  type KindReflector,
  NamedConfigMaps,
  ObjectWrites,
  PROJECT,
  picked,
  ReflectedCluster,
  type ServiceSlices,
} from '@spout/connector'
import {
  type DeletionGuardPolicy,
  INGRESS_CLASSES,
  INGRESSES,
  type Ingress,
  type IngressClass,
  type ObjectEvent,
  Reflector,
  type Transport,
} from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { DEFAULT_CLASS_ANNOTATION, LEGACY_CLASS_ANNOTATION } from '../names.ts'

export interface KubeClusterOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** Only this namespace; null for all. */
  readonly namespace: string | null
  /** Both are shared with others, so the caller starts and stops them. */
  readonly slices: ServiceSlices
  readonly backends: BackendServices
  /** Ingresses that have load balancers: when the first list lacks them, the deletion guard may hold them. */
  readonly knownIngresses: readonly string[]
  readonly tell: (ingress: Ingress, event: ObjectEvent) => void
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

/**
 * Implements `Cluster` with reflectors: of Ingresses and their classes, and of the Services and ConfigMaps that they
 * name.
 */
export class KubeCluster extends ReflectedCluster<ClusterChange> implements Cluster {
  override readonly reflectors: readonly KindReflector[]
  readonly #options: KubeClusterOptions
  readonly #ingresses: Reflector<Ingress, Ingress>
  readonly #classes: Reflector<IngressClass, IngressClass>
  readonly #backends: BackendServices
  readonly #configMaps: NamedConfigMaps
  readonly #slices: ServiceSlices
  readonly #writes: ObjectWrites

  constructor(options: KubeClusterOptions) {
    super()
    this.#options = options
    this.#writes = new ObjectWrites(options.transport)
    const { transport, clock, log, namespace, slices, backends, knownIngresses, deletionGuard } = options
    const common = { transport, clock, log, ...(deletionGuard === undefined ? {} : { deletionGuard }) }
    this.#ingresses = new Reflector<Ingress, Ingress>({
      ...{ ...common, resource: INGRESSES, trim: trimIngress, knownKeys: knownIngresses },
      ...(namespace === null ? {} : { namespace }),
    })
    this.#classes = new Reflector<IngressClass, IngressClass>({ ...common, resource: INGRESS_CLASSES, trim: trimClass })
    this.reflectors = [
      { kind: INGRESSES.kind, reflector: this.#ingresses },
      { kind: INGRESS_CLASSES.kind, reflector: this.#classes },
    ]
    this.#backends = backends
    this.#slices = slices
    this.#configMaps = new NamedConfigMaps({ transport, clock, log })
    this.#ingresses.onChange((key) => this.changed({ type: 'ingress', key }))
    this.#classes.onChange(() => this.changed({ type: 'classes' }))
    this.#backends.onChange((key) => this.changed({ type: 'backend', key }))
    this.#configMaps.onChange((key) => this.changed({ type: 'config-map', key }))
  }

  override async stop(): Promise<void> {
    await Promise.all([super.stop(), this.#configMaps.close()])
  }

  override get ready(): boolean {
    return this.#backends.ready && super.ready
  }

  ingress(key: string): Ingress | undefined {
    const ingress = this.#ingresses.get(key)
    const resourceVersion = this.#ingresses.identity(key)?.resourceVersion
    if (ingress === undefined || resourceVersion === undefined) return ingress
    return { ...ingress, metadata: { ...ingress.metadata, resourceVersion } }
  }

  *ingresses(): Iterable<Ingress> {
    for (const [, ingress] of this.#ingresses.list()) yield ingress
  }

  classes(): readonly IngressClass[] {
    return [...this.#classes.list()].map(([, one]) => one)
  }

  service(key: string) {
    return this.#backends.service(key)
  }

  slicesOf(serviceKey: string) {
    return this.#slices.of(serviceKey)
  }

  nameConfigMaps(unit: string, keys: ReadonlySet<string>): void {
    this.#configMaps.name(unit, keys)
  }

  configMap(key: string) {
    return this.#configMaps.of(key)
  }

  isHeld(key: string): boolean {
    return this.#ingresses.isHeld(key)
  }

  isGone(key: string, uid: string): Promise<boolean> {
    const [namespace = '', name = ''] = key.split('/', 2)
    return this.#ingresses.isGone({ namespace, name }, uid)
  }

  writeAddresses(ingress: Ingress, addresses: readonly string[]): Promise<string | null> {
    const shown = addresses.length === 0 ? null : addresses.map((ip) => ({ ip }))
    return this.#writes.patchStatus(INGRESSES, ingress, { loadBalancer: { ingress: shown } })
  }

  tell(ingress: Ingress, event: ObjectEvent): void {
    this.#options.tell(ingress, event)
  }
}

const NAMED = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const
const OURS = 'spout.dev/'

function trimIngress({ metadata, spec, status }: Ingress): Ingress {
  const { annotations = {} } = metadata
  const kept = Object.keys(annotations).filter(
    (name) => name.startsWith(OURS) || name.startsWith(NGINX_PREFIX) || name === LEGACY_CLASS_ANNOTATION,
  )
  return {
    metadata: {
      ...picked(metadata, NAMED),
      annotations: picked(annotations, [...kept, ...ALL_DNS_ANNOTATIONS, PROJECT]),
    },
    spec: structuredClone(picked(spec, ['ingressClassName', 'defaultBackend', 'tls', 'rules'])),
    ...(status === undefined ? {} : { status: structuredClone(picked(status, ['loadBalancer'])) }),
  }
}

const trimClass = ({ metadata, spec }: IngressClass): IngressClass => ({
  metadata: { ...picked(metadata, NAMED), annotations: picked(metadata.annotations, [DEFAULT_CLASS_ANNOTATION]) },
  spec: structuredClone(picked(spec, ['controller', 'parameters'])),
})
