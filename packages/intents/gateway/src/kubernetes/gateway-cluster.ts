import {
  type BackendServices,
  ClaimedObjects,
  type KindReflector,
  keyOf,
  MANAGED_BY,
  picked,
  Stale,
  uidOf,
} from '@spout/connector'
import {
  type DeletionGuardPolicy,
  isConflict,
  KubeClient,
  type KubeObject,
  NAMESPACES,
  type Namespace,
  Reflector,
  type Resource,
  type Transport,
} from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import { CONTROLLER_NAME, FINALIZER } from '../names.ts'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { HttpRouteObject, RouteParentStatus } from '../objects/http-route.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import { GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES, REFERENCE_GRANTS } from '../objects/resources.ts'
import type { Labels } from '../to-model/attachment.ts'

export interface GatewayClusterOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** Gateways that have load balancers: when the first list lacks them, the deletion guard may hold them. */
  readonly knownGateways: readonly string[]
  /** Started and stopped by who made them. */
  readonly backends: BackendServices
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

/** `Cluster` on an API server that has the kinds of Gateway API. */
export class GatewayCluster implements Cluster {
  readonly reflectors: readonly KindReflector[]
  readonly #client: KubeClient
  readonly #backends: BackendServices
  readonly #classes: Reflector<GatewayClass, GatewayClass>
  readonly #gateways: ClaimedObjects<Gateway>
  readonly #routes: Reflector<HttpRouteObject, HttpRouteObject>
  readonly #grants: Reflector<ReferenceGrant, ReferenceGrant>
  readonly #namespaces: Reflector<Namespace, Labels>
  readonly #listeners = new Set<(change: ClusterChange) => void>()
  /** The grants as a list; null when they have changed since. */
  #allGrants: readonly ReferenceGrant[] | null = null

  constructor({ transport, clock, log, knownGateways, backends, deletionGuard }: GatewayClusterOptions) {
    const common = { transport, clock, log, ...(deletionGuard === undefined ? {} : { deletionGuard }) }
    this.#client = new KubeClient(transport)
    this.#backends = backends
    this.#classes = new Reflector({ ...common, resource: GATEWAY_CLASSES, trim: trimmed })
    this.#gateways = new ClaimedObjects<Gateway>({
      ...common,
      resource: GATEWAYS,
      trim: trimmed,
      namespace: null,
      knownKeys: knownGateways,
      finalizer: FINALIZER,
      mark: CONTROLLER_NAME,
    })
    this.#routes = new Reflector({ ...common, resource: HTTP_ROUTES, trim: trimmed })
    this.#grants = new Reflector({ ...common, resource: REFERENCE_GRANTS, trim: trimmed })
    this.#namespaces = new Reflector<Namespace, Labels>({
      ...common,
      resource: NAMESPACES,
      trim: ({ metadata }) => ({ ...metadata.labels }),
    })
    this.reflectors = [
      { kind: GATEWAY_CLASSES.kind, reflector: this.#classes },
      { kind: GATEWAYS.kind, reflector: this.#gateways.reflector },
      { kind: HTTP_ROUTES.kind, reflector: this.#routes },
      { kind: REFERENCE_GRANTS.kind, reflector: this.#grants },
      { kind: NAMESPACES.kind, reflector: this.#namespaces },
    ]
    this.#classes.onChange((key) => this.#tell({ type: 'class', key }))
    this.#gateways.onChange((key) => this.#tell({ type: 'gateway', key }))
    this.#routes.onChange((key) => this.#tell({ type: 'route', key }))
    this.#grants.onChange(() => {
      this.#allGrants = null
      this.#tell({ type: 'permissions' })
    })
    this.#namespaces.onChange(() => this.#tell({ type: 'permissions' }))
    backends.onChange((key) => this.#tell({ type: 'service', key }))
  }

  start(): void {
    for (const { reflector } of this.reflectors) reflector.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.reflectors.map(({ reflector }) => reflector.close()))
  }

  /** An operator confirms that missing objects are deleted. */
  confirm(): void {
    for (const { reflector } of this.reflectors) reflector.confirm()
  }

  get ready(): boolean {
    return this.#backends.ready && this.reflectors.every(({ reflector }) => reflector.hasSynced)
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  gatewayClass(name: string): GatewayClass | undefined {
    return versioned(this.#classes, name)
  }

  *classes(): Iterable<GatewayClass> {
    for (const [, one] of this.#classes.list()) yield one
  }

  gateway(key: string): Gateway | undefined {
    return this.#gateways.get(key)
  }

  gateways(): Iterable<Gateway> {
    return this.#gateways.all()
  }

  route(key: string): HttpRouteObject | undefined {
    return versioned(this.#routes, key)
  }

  *routes(): Iterable<HttpRouteObject> {
    for (const [, one] of this.#routes.list()) yield one
  }

  grants(): readonly ReferenceGrant[] {
    this.#allGrants ??= [...this.#grants.list()].map(([, grant]) => grant)
    return this.#allGrants
  }

  labelsOf(namespace: string): Labels | null {
    return this.#namespaces.get(namespace) ?? null
  }

  service(key: string) {
    return this.#backends.service(key)
  }

  slicesOf(serviceKey: string) {
    return this.#backends.slicesOf(serviceKey)
  }

  isHeld(key: string): boolean {
    return this.#gateways.isHeld(key)
  }

  isGone(key: string, uid: string): Promise<boolean> {
    return this.#gateways.isGone(key, uid)
  }

  isClaimed(gateway: Gateway): boolean {
    return this.#gateways.isClaimed(gateway)
  }

  claim(gateway: Gateway): Promise<void> {
    return this.#gateways.claim(gateway)
  }

  release(gateway: Gateway): Promise<void> {
    return this.#gateways.release(gateway)
  }

  writeClass(one: GatewayClass, status: GatewayClass['status']): Promise<void> {
    return this.#writeStatus(GATEWAY_CLASSES, one, { ...status })
  }

  writeGateway(gateway: Gateway, status: GatewayStatus): Promise<void> {
    return this.#writeStatus(GATEWAYS, gateway, { ...status })
  }

  writeParents(route: HttpRouteObject, parents: readonly RouteParentStatus[]): Promise<void> {
    return this.#writeStatus(HTTP_ROUTES, route, { parents })
  }

  /** Lists in statuses of routes are written as a whole, so the write is for the version that was read. */
  async #writeStatus<T extends KubeObject>(resource: Resource<T>, object: T, status: object): Promise<void> {
    const { name, namespace, resourceVersion } = object.metadata
    const patch = { metadata: { uid: uidOf(object) }, status }
    try {
      await this.#client.mergePatch(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, patch, {
        subresource: 'status',
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      })
    } catch (error) {
      if (isConflict(error)) throw new Stale(`${resource.kind} ${keyOf(object)} has changed`)
      throw error
    }
  }

  #tell(change: ClusterChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

/** With the version that was last seen: changes that are not kept make a new one, too. */
function versioned<T extends KubeObject>(reflector: Reflector<T, T>, key: string): T | undefined {
  const object = reflector.get(key)
  const resourceVersion = reflector.identity(key)?.resourceVersion
  if (object === undefined || resourceVersion === undefined) return undefined
  return { ...object, metadata: { ...object.metadata, resourceVersion } }
}

const KEPT = ['name', 'namespace', 'uid', 'generation', 'creationTimestamp', 'deletionTimestamp', 'finalizers'] as const

/** Without labels, annotations of others and managed fields. */
function trimmed<T extends KubeObject & { readonly spec: unknown; readonly status?: unknown }>(object: T): T {
  const { metadata, spec, status } = object
  const mark = picked(metadata.annotations, [MANAGED_BY])
  return {
    metadata: { ...picked(metadata, KEPT), ...(Object.keys(mark).length === 0 ? {} : { annotations: mark }) },
    spec: structuredClone(spec),
    ...(status === undefined ? {} : { status: structuredClone(status) }),
  } as T
}
