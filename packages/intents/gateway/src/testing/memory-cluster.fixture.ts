import { keyOf } from '@spout/connector'
import type { EndpointSlice, KubeObject, Service } from '@spout/kube'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import type { BackendTlsPolicyObject } from '../objects/backend-tls-policy.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { ListenerSet } from '../objects/listener-set.ts'
import { CONTROLLER_NAME } from '../objects/names.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import { type RouteObject, routeIdOf } from '../objects/route.ts'
import { servicesOfPolicy } from '../to-model/backends/backend-tls.ts'
import { gatewayOfSet, type Labels } from '../to-model/listeners/listener-parents.ts'

const CLASS: GatewayClass = {
  metadata: { name: 'spout', uid: '00000000-0000-4000-8000-00000000c1a5', generation: 1 },
  spec: { controllerName: CONTROLLER_NAME },
}

/**
 * A cluster in memory. It reports written statuses as a watch would. Gateways are claimed from the
 * beginning.
 */
export class MemoryCluster implements Cluster {
  readonly ready = true
  readonly #listeners = new Set<(change: ClusterChange) => void>()
  readonly #gateways = new Map<string, Gateway>()
  readonly #sets = new Map<string, ListenerSet>()
  readonly #routes = new Map<string, RouteObject>()
  readonly #services = new Map<string, Service>()
  readonly #slices = new Map<string, readonly EndpointSlice[]>()
  readonly #policies = new Map<string, BackendTlsPolicyObject>()
  readonly #labels = new Map<string, Labels>()
  #grants: readonly ReferenceGrant[] = []
  #writable: Promise<void> = Promise.resolve()

  /** Statuses take as long to write as the caller likes. @returns a function that ends it */
  holdWrites(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#writable = promise
    return resolve
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  putGateway(gateway: Gateway): void {
    this.#put(this.#gateways, keyOf(gateway), gateway, 'gateway')
  }

  putListenerSet(key: string, set: ListenerSet | null): void {
    this.#put(this.#sets, key, set, 'listener-set')
  }

  /** @param id `kind/namespace/name` */
  putRoute(id: string, route: RouteObject | null): void {
    this.#put(this.#routes, id, route, 'route')
  }

  putService(key: string, service: Service | null): void {
    this.#put(this.#services, key, service, 'service')
  }

  putSlices(service: string, slices: readonly EndpointSlice[]): void {
    this.#put(this.#slices, service, slices, 'service')
  }

  putPolicy(key: string, policy: BackendTlsPolicyObject | null): void {
    this.#put(this.#policies, key, policy, 'policy')
  }

  setGrants(grants: readonly ReferenceGrant[]): void {
    this.#grants = grants
    this.#tell({ type: 'permissions' })
  }

  setLabels(namespace: string, labels: Labels): void {
    this.#labels.set(namespace, labels)
    this.#tell({ type: 'permissions' })
  }

  gatewayClass(name: string) {
    return name === CLASS.metadata.name ? CLASS : undefined
  }
  classes() {
    return [CLASS]
  }
  gateway(key: string) {
    return copied(this.#gateways.get(key))
  }
  gateways() {
    return this.#gateways.values()
  }
  isElsewhere() {
    return false
  }
  listenerSet(key: string) {
    return this.#sets.get(key)
  }
  listenerSets() {
    return this.#sets.values()
  }
  listenerSetsOf(gateway: string) {
    return [...this.#sets.values()].filter((set) => gatewayOfSet(set) === gateway)
  }
  route(id: string) {
    return copied(this.#routes.get(id))
  }
  routes() {
    return this.#routes.values()
  }
  grants() {
    return this.#grants
  }
  policy(key: string) {
    return this.#policies.get(key)
  }
  policiesOf(service: string) {
    return [...this.#policies.values()].filter((policy) => servicesOfPolicy(policy).includes(service))
  }
  labelsOf(namespace: string) {
    return this.#labels.get(namespace) ?? null
  }
  service(key: string) {
    return this.#services.get(key)
  }
  slicesOf(key: string) {
    return this.#slices.get(key) ?? []
  }
  isHeld() {
    return false
  }
  async isGone() {
    return false
  }
  isClaimed() {
    return true
  }
  async claim() {}
  async release() {}
  writeClass() {
    return this.#writable
  }

  async writeGateway(gateway: Gateway, status: NonNullable<Gateway['status']>) {
    await this.#writable
    const key = keyOf(gateway)
    const current = this.#gateways.get(key)
    if (current !== undefined) this.#put(this.#gateways, key, { ...current, status }, 'gateway')
  }

  async writeListenerSet(set: ListenerSet, status: ListenerSet['status']) {
    await this.#writable
    const current = this.#sets.get(keyOf(set))
    if (current !== undefined && status !== undefined)
      this.#put(this.#sets, keyOf(set), { ...current, status }, 'listener-set')
  }

  writeAncestors() {
    return this.#writable
  }

  async writeParents(route: RouteObject, parents: NonNullable<RouteObject['status']>['parents']) {
    await this.#writable
    const current = this.#routes.get(routeIdOf(route))
    if (current !== undefined) this.#put(this.#routes, routeIdOf(route), { ...current, status: { parents } }, 'route')
  }

  #put<T>(objects: Map<string, T>, key: string, object: T | null, type: Exclude<ClusterChange['type'], 'permissions'>) {
    if (object === null) objects.delete(key)
    else objects.set(key, object)
    this.#tell({ type, key })
  }

  #tell(change: ClusterChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

/** As the object cache gives them: a new object each time, with the same parts. */
const copied = <T extends KubeObject>(object: T | undefined): T | undefined =>
  object === undefined ? undefined : { ...object, metadata: { ...object.metadata } }
