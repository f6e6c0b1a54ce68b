import { type KindReflector, keyOf, MANAGED_BY, PROJECT, trimNode, trimSlice, uidOf } from '@spout/connector'
import {
  byLabel,
  type DoubtPolicy,
  ENDPOINT_SLICES,
  type EndpointSlice,
  isConflict,
  isNotFound,
  KubeError,
  type KubeRequest,
  NODES,
  type Node,
  objectPath,
  Reflector,
  SERVICE_NAME_LABEL,
  SERVICES,
  type Service,
  type Transport,
} from '@spout/kube'
import { AtMost, type Clock, type Logger } from '@spout/runtime'
import { type Cluster, type ClusterChange, Stale } from '../controller/cluster.ts'
import { FINALIZER } from '../names.ts'
import type { ServiceEvent } from '../write-back/events.ts'
import type { WrittenStatus } from '../write-back/status.ts'
import { trimService } from './trim-service.ts'

export interface KubeClusterOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly className: string
  /** Only this namespace; null for all. */
  readonly namespace: string | null
  /** Whose EndpointSlices count, by label `endpointslice.kubernetes.io/managed-by`; empty or left out takes all. */
  readonly slicesBy?: readonly string[]
  /** Services that load balancers exist for: their absence from the first list is not believed lightly. */
  readonly knownServices: readonly string[]
  /** Records an event. */
  readonly tell: (service: Service, event: ServiceEvent) => void
  readonly doubt?: Partial<DoubtPolicy>
}

/** Our field manager: what we apply is ours, and what others wrote stays theirs. */
const FIELD_MANAGER = 'spout'
const BY_SERVICE = 'service'
/** The API server answers so many at once as quickly as more, and refuses everybody's above 200. */
const MOST_WRITES = 64

interface Claim {
  readonly version: string
  readonly finalizers: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

/** `Cluster` over an API server: three reflectors and the writes to Services. */
export class KubeCluster implements Cluster {
  readonly reflectors: readonly KindReflector[]
  readonly #options: KubeClusterOptions
  readonly #services: Reflector<Service, Service>
  readonly #slices: Reflector<EndpointSlice, EndpointSlice>
  readonly #nodes: Reflector<Node, Node>
  readonly #listeners = new Set<(change: ClusterChange) => void>()
  /** The Service of each slice: a slice that is gone does not say it any more. */
  readonly #serviceOfSlice = new Map<string, string>()
  readonly #writes = new AtMost(MOST_WRITES)
  /** What was put on a Service, by key, until the watch shows more than the version it was put on. */
  readonly #claims = new Map<string, Claim>()

  constructor(options: KubeClusterOptions) {
    this.#options = options
    const { transport, clock, log, namespace, knownServices, doubt } = options
    const common = { transport, clock, log, ...(doubt === undefined ? {} : { doubt }) }
    const scope = namespace === null ? {} : { namespace }
    this.#services = new Reflector<Service, Service>({
      ...common,
      ...scope,
      resource: SERVICES,
      trim: trimService,
      knownKeys: knownServices,
    })
    this.#slices = new Reflector<EndpointSlice, EndpointSlice>({
      ...common,
      ...scope,
      resource: ENDPOINT_SLICES,
      trim: (slice) => trimSlice(slice, options.slicesBy),
      indexes: { [BY_SERVICE]: byLabel(SERVICE_NAME_LABEL) },
    })
    this.#nodes = new Reflector<Node, Node>({ ...common, resource: NODES, trim: trimNode })
    this.reflectors = [
      { kind: SERVICES.kind, reflector: this.#services },
      { kind: ENDPOINT_SLICES.kind, reflector: this.#slices },
      { kind: NODES.kind, reflector: this.#nodes },
    ]
    this.#services.onChange((key) => {
      if (this.#claims.get(key)?.version !== this.#services.identity(key)?.resourceVersion) this.#claims.delete(key)
      this.#tell({ type: 'service', key })
    })
    this.#slices.onChange((key) => this.#sliceChanged(key))
    this.#nodes.onChange(() => this.#tell({ type: 'nodes' }))
  }

  start(): void {
    for (const { reflector } of this.reflectors) reflector.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.reflectors.map(({ reflector }) => reflector.close()))
  }

  /** Somebody says that what is missing is deleted indeed. */
  confirm(): void {
    for (const { reflector } of this.reflectors) reflector.confirm()
  }

  get ready(): boolean {
    return this.reflectors.every(({ reflector }) => reflector.hasSynced)
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  service(key: string): Service | undefined {
    const service = this.#services.get(key)
    const identity = this.#services.identity(key)
    if (service === undefined || identity === undefined) return undefined
    const { resourceVersion } = identity
    const claim = this.#claims.get(key)
    const { finalizers, annotations } = claim?.version === resourceVersion ? claim : service.metadata
    return {
      ...service,
      metadata: {
        ...service.metadata,
        resourceVersion,
        ...(finalizers === undefined ? {} : { finalizers }),
        ...(annotations === undefined ? {} : { annotations: { ...service.metadata.annotations, ...annotations } }),
      },
    }
  }

  *services(): Iterable<Service> {
    for (const [, service] of this.#services.list()) yield service
  }

  isHeld(key: string): boolean {
    return this.#services.isHeld(key)
  }

  isGone(key: string, uid: string): Promise<boolean> {
    const [namespace = '', name = ''] = key.split('/', 2)
    return this.#services.isGone({ namespace, name }, uid)
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    return this.#slices.keysBy(BY_SERVICE, serviceKey).flatMap((key) => this.#slices.get(key) ?? [])
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

  isClaimed({ metadata }: Service): boolean {
    return (
      (metadata.finalizers?.includes(FINALIZER) ?? false) &&
      metadata.annotations?.[MANAGED_BY] === this.#options.className
    )
  }

  /** @param projectId written down too where there are several projects */
  async claim(service: Service, projectId?: string): Promise<void> {
    const finalizers = [...new Set([...(service.metadata.finalizers ?? []), FINALIZER])]
    const project: Record<string, string> = projectId === undefined ? {} : { [PROJECT]: projectId }
    const annotations = { [MANAGED_BY]: this.#options.className, ...project }
    await this.#patch(service, { finalizers, annotations })
    // A watch that lags must not make it be claimed twice.
    const key = keyOf(service)
    const { resourceVersion: version = '' } = service.metadata
    if (this.#services.identity(key)?.resourceVersion === version)
      this.#claims.set(key, { version, finalizers, annotations })
  }

  async release(service: Service): Promise<void> {
    const finalizers = (service.metadata.finalizers ?? []).filter((name) => name !== FINALIZER)
    await this.#patch(service, { finalizers, annotations: { [MANAGED_BY]: null, [PROJECT]: null } }).catch(
      ignoreNotFound,
    )
  }

  writeStatus(service: Service, status: WrittenStatus): Promise<string | null> {
    return this.#writes.run(() => this.#applyStatus(service, status))
  }

  async #applyStatus(service: Service, { ingress, conditions }: WrittenStatus): Promise<string | null> {
    const { name, namespace = '' } = service.metadata
    const path = objectPath(SERVICES, { namespace, name }, 'status')
    // What somebody else wrote there is not taken away by an apply that does not name it.
    if (ingress.length === 0 && (service.status?.loadBalancer?.ingress ?? []).length > 0)
      await this.#options.transport
        .request({
          method: 'PATCH',
          path,
          query: { fieldManager: FIELD_MANAGER },
          contentType: 'application/merge-patch+json',
          body: { metadata: { uid: uidOf(service) }, status: { loadBalancer: { ingress: null } } },
        })
        .catch(ignoreNotFound)
        .catch(staleOr)
    const written = await this.#options.transport
      .request<Service>({
        method: 'PATCH',
        path,
        query: { fieldManager: FIELD_MANAGER, force: true },
        contentType: 'application/apply-patch+yaml',
        body: {
          apiVersion: 'v1',
          kind: 'Service',
          // The UID: a Service that was made again under this name is another one.
          metadata: { name, namespace, uid: uidOf(service) },
          status: {
            loadBalancer: ingress.length === 0 ? {} : { ingress },
            ...(conditions.length === 0 ? {} : { conditions }),
          },
        },
      })
      .catch(ignoreNotFound)
      .catch(staleOr)
    return written?.metadata.resourceVersion ?? null
  }

  tell(service: Service, event: ServiceEvent): void {
    this.#options.tell(service, event)
  }

  /** Of this version of this object alone. */
  async #patch(service: Service, metadata: Readonly<Record<string, unknown>>): Promise<void> {
    const { name, namespace = '', resourceVersion } = service.metadata
    const request: KubeRequest = {
      method: 'PATCH',
      path: objectPath(SERVICES, { namespace, name }),
      query: { fieldManager: FIELD_MANAGER },
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid: uidOf(service), resourceVersion, ...metadata } },
      // Doing it twice would meet its own first time.
      retry: false,
      // What came of it the watch tells.
      read: false,
    }
    await this.#writes.run(() => this.#options.transport.request(request)).catch(staleOr)
  }

  #sliceChanged(key: string): void {
    const slice = this.#slices.get(key)
    const before = this.#serviceOfSlice.get(key)
    const name = slice?.metadata.labels?.[SERVICE_NAME_LABEL]
    const after = slice === undefined || name === undefined ? undefined : `${slice.metadata.namespace ?? ''}/${name}`
    if (after === undefined) this.#serviceOfSlice.delete(key)
    else this.#serviceOfSlice.set(key, after)
    for (const service of new Set([before, after]))
      if (service !== undefined) this.#tell({ type: 'slices', key: service })
  }

  #tell(change: ClusterChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error
}

/** What was read is not what is there: another version, another UID, or gone. */
function staleOr(error: unknown): never {
  if (isConflict(error) || isNotFound(error)) throw new Stale((error as Error).message)
  // A finalizer cannot be added to what is being deleted: it was read before it was asked to go.
  if (error instanceof KubeError && error.status === 422) throw new Stale(error.message)
  throw error
}
