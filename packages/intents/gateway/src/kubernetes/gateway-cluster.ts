import {
  type BackendServices,
  ClaimedObjects,
  type KindReflector,
  ObjectWrites,
  ReflectedCluster,
} from '@spout/connector'
import {
  type DeletionGuardPolicy,
  type KubeObject,
  NAMESPACES,
  type Namespace,
  Reflector,
  type Resource,
  type Transport,
} from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import type { BackendTlsPolicyObject, PolicyAncestorStatus } from '../objects/backend-tls-policy.ts'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { ListenerSet, ListenerSetStatus } from '../objects/listener-set.ts'
import { CONTROLLER_NAME, FINALIZER } from '../objects/names.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import {
  BACKEND_TLS_POLICIES,
  GATEWAY_CLASSES,
  GATEWAYS,
  LISTENER_SETS,
  REFERENCE_GRANTS,
} from '../objects/resources.ts'
import type { RouteObject, RouteParentStatus } from '../objects/route.ts'
import { kindOf } from '../route-kinds/all.ts'
import { servicesOfPolicy } from '../to-model/backends/backend-tls.ts'
import { gatewayOfSet, type Labels } from '../to-model/listeners/listener-parents.ts'
import { OptionalKind } from './optional-kind.ts'
import { RouteReflectors } from './route-reflectors.ts'
import { trimmed, versioned } from './trimmed.ts'

export interface GatewayClusterOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** Gateways that have load balancers: when the first list lacks them, the deletion guard may hold them. */
  readonly knownGateways: readonly string[]
  /** Shared with other intents, so the caller starts and stops it. */
  readonly backends: BackendServices
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

/** Implements `Cluster` with reflectors. Start it once the API server has the kinds in `NEEDED_KINDS`. */
export class GatewayCluster extends ReflectedCluster<ClusterChange> implements Cluster {
  readonly #own: readonly KindReflector[]
  readonly #writes: ObjectWrites
  readonly #backends: BackendServices
  readonly #classes: Reflector<GatewayClass, GatewayClass>
  readonly #gateways: ClaimedObjects<Gateway>
  readonly #listenerSets: OptionalKind<ListenerSet>
  readonly #routes: RouteReflectors
  readonly #policies: OptionalKind<BackendTlsPolicyObject>
  readonly #grants: Reflector<ReferenceGrant, ReferenceGrant>
  readonly #namespaces: Reflector<Namespace, Labels>
  /** Cache of `grants()`; null after a grant has changed. */
  #allGrants: readonly ReferenceGrant[] | null = null

  constructor({ transport, clock, log, knownGateways, backends, deletionGuard }: GatewayClusterOptions) {
    super()
    const common = { transport, clock, log, ...(deletionGuard === undefined ? {} : { deletionGuard }) }
    this.#writes = new ObjectWrites(transport)
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
    this.#listenerSets = new OptionalKind(common, LISTENER_SETS, (set) => {
      const gateway = gatewayOfSet(set)
      return gateway === null ? [] : [gateway]
    })
    this.#routes = new RouteReflectors(common)
    this.#policies = new OptionalKind(common, BACKEND_TLS_POLICIES, servicesOfPolicy)
    this.#grants = new Reflector({ ...common, resource: REFERENCE_GRANTS, trim: trimmed })
    this.#namespaces = new Reflector<Namespace, Labels>({
      ...common,
      resource: NAMESPACES,
      trim: ({ metadata }) => ({ ...metadata.labels }),
    })
    this.#own = [
      { kind: GATEWAY_CLASSES.kind, reflector: this.#classes },
      { kind: GATEWAYS.kind, reflector: this.#gateways.reflector },
      { kind: REFERENCE_GRANTS.kind, reflector: this.#grants },
      { kind: NAMESPACES.kind, reflector: this.#namespaces },
    ]
    this.#classes.onChange((key) => this.changed({ type: 'class', key }))
    this.#gateways.onChange((key) => this.changed({ type: 'gateway', key }))
    this.#listenerSets.onChange((key) => this.changed({ type: 'listener-set', key }))
    this.#routes.onChange((id) => this.changed({ type: 'route', key: id }))
    this.#policies.onChange((key) => this.changed({ type: 'policy', key }))
    this.#grants.onChange(() => {
      this.#allGrants = null
      this.changed({ type: 'permissions' })
    })
    this.#namespaces.onChange(() => this.changed({ type: 'permissions' }))
    backends.onChange((key) => this.changed({ type: 'service', key }))
  }

  override get reflectors(): readonly KindReflector[] {
    return [...this.#own, ...this.#late.flatMap(({ reflectors }) => reflectors)]
  }

  /** The kinds that may be missing from the cluster at first. Each is read once it is there. */
  get #late() {
    return [this.#listenerSets, this.#routes, this.#policies]
  }

  /** Those of the late kinds start by themselves. */
  override start(): void {
    for (const { reflector } of this.#own) reflector.start()
    for (const one of this.#late) one.start()
  }

  override async stop(): Promise<void> {
    for (const one of this.#late) await one.stop()
    await Promise.all(this.#own.map(({ reflector }) => reflector.close()))
  }

  override get ready(): boolean {
    const isRead = this.#backends.ready && this.#late.every(({ ready }) => ready)
    return isRead && this.#own.every(({ reflector }) => reflector.hasSynced)
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

  /** Always false: this cluster has the Gateways of all projects. */
  isElsewhere(): boolean {
    return false
  }

  listenerSet(key: string): ListenerSet | undefined {
    return this.#listenerSets.get(key)
  }

  listenerSets(): Iterable<ListenerSet> {
    return this.#listenerSets.all()
  }

  listenerSetsOf(gateway: string): readonly ListenerSet[] {
    return this.#listenerSets.naming(gateway)
  }

  route(id: string): RouteObject | undefined {
    return this.#routes.get(id)
  }

  routes(): Iterable<RouteObject> {
    return this.#routes.all()
  }

  grants(): readonly ReferenceGrant[] {
    this.#allGrants ??= [...this.#grants.list()].map(([, grant]) => grant)
    return this.#allGrants
  }

  policy(key: string): BackendTlsPolicyObject | undefined {
    return this.#policies.get(key)
  }

  policiesOf(service: string): readonly BackendTlsPolicyObject[] {
    return this.#policies.naming(service)
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

  /** @param projectId written on the Gateway as well; left out when there is only one project */
  claim(gateway: Gateway, projectId?: string): Promise<void> {
    return this.#gateways.claim(gateway, projectId)
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

  writeListenerSet(set: ListenerSet, status: ListenerSetStatus): Promise<void> {
    return this.#writeStatus(LISTENER_SETS, set, { ...status })
  }

  writeAncestors(policy: BackendTlsPolicyObject, ancestors: readonly PolicyAncestorStatus[]): Promise<void> {
    return this.#writeStatus(BACKEND_TLS_POLICIES, policy, { ancestors })
  }

  writeParents(route: RouteObject, parents: readonly RouteParentStatus[]): Promise<void> {
    return this.#writeStatus(kindOf(route).resource, route, { parents })
  }

  /**
   * Fails when the object has changed since it was read. A patch replaces a list as a whole, so without this check it
   * could undo what another controller has written to `parents` or `ancestors` meanwhile.
   */
  async #writeStatus<T extends KubeObject>(resource: Resource<T>, object: T, status: object): Promise<void> {
    await this.#writes.patchStatus(resource, object, status, object.metadata.resourceVersion)
  }
}
