import { ProjectObjects, type Tenancy } from '@spout/connector'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import type { BackendTlsPolicyObject, PolicyAncestorStatus } from '../objects/backend-tls-policy.ts'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { ListenerSet, ListenerSetStatus } from '../objects/listener-set.ts'
import type { RouteObject, RouteParentStatus } from '../objects/route.ts'

/** A cluster that can write the project on the Gateways that it claims. */
export interface ClaimingCluster extends Cluster {
  claim(gateway: Gateway, projectId?: string): Promise<void>
}

/**
 * A view of the cluster with the Gateways of one project; those of other projects are absent. Routes, ListenerSets and
 * policies are all visible, because one of them can refer to Gateways of several projects.
 */
export class ProjectCluster implements Cluster {
  readonly #cluster: ClaimingCluster
  readonly #objects: ProjectObjects<Gateway>

  constructor(tenancy: Tenancy, cluster: ClaimingCluster, project: string) {
    this.#cluster = cluster
    this.#objects = new ProjectObjects(tenancy, project, (key) => cluster.gateway(key))
  }

  get ready(): boolean {
    return this.#objects.ready && this.#cluster.ready
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    return this.#objects.follow(this.#cluster, (key): ClusterChange => ({ type: 'gateway', key }), listener)
  }

  gatewayClass(name: string) {
    return this.#cluster.gatewayClass(name)
  }

  classes() {
    return this.#cluster.classes()
  }

  gateway(key: string): Gateway | undefined {
    return this.#objects.get(key)
  }

  gateways(): Iterable<Gateway> {
    return this.#objects.all()
  }

  isElsewhere(key: string): boolean {
    return this.#objects.isOfAnother(key) || this.#objects.isWithheld(key)
  }

  listenerSet(key: string) {
    return this.#cluster.listenerSet(key)
  }

  listenerSets() {
    return this.#cluster.listenerSets()
  }

  listenerSetsOf(gateway: string) {
    return this.#cluster.listenerSetsOf(gateway)
  }

  route(id: string) {
    return this.#cluster.route(id)
  }

  routes() {
    return this.#cluster.routes()
  }

  grants() {
    return this.#cluster.grants()
  }

  policy(key: string) {
    return this.#cluster.policy(key)
  }

  policiesOf(service: string) {
    return this.#cluster.policiesOf(service)
  }

  labelsOf(namespace: string) {
    return this.#cluster.labelsOf(namespace)
  }

  service(key: string) {
    return this.#cluster.service(key)
  }

  slicesOf(serviceKey: string) {
    return this.#cluster.slicesOf(serviceKey)
  }

  isHeld(key: string): boolean {
    return this.#cluster.isHeld(key) || this.#objects.isWithheld(key)
  }

  isGone(key: string, uid: string): Promise<boolean> {
    return this.#objects.isGone(key, uid, () => this.#cluster.isGone(key, uid))
  }

  isClaimed(gateway: Gateway): boolean {
    return this.#cluster.isClaimed(gateway) && this.#objects.isMarked(gateway)
  }

  async claim(gateway: Gateway): Promise<void> {
    this.#objects.mustBeOurs(gateway)
    await this.#cluster.claim(gateway, this.#objects.projectId)
  }

  release(gateway: Gateway): Promise<void> {
    return this.#cluster.release(gateway)
  }

  writeClass(one: GatewayClass, status: GatewayClass['status']): Promise<void> {
    return this.#cluster.writeClass(one, status)
  }

  async writeGateway(gateway: Gateway, status: GatewayStatus): Promise<void> {
    this.#objects.mustBeOurs(gateway)
    await this.#cluster.writeGateway(gateway, status)
  }

  writeListenerSet(set: ListenerSet, status: ListenerSetStatus): Promise<void> {
    return this.#cluster.writeListenerSet(set, status)
  }

  writeAncestors(policy: BackendTlsPolicyObject, ancestors: readonly PolicyAncestorStatus[]): Promise<void> {
    return this.#cluster.writeAncestors(policy, ancestors)
  }

  writeParents(route: RouteObject, parents: readonly RouteParentStatus[]): Promise<void> {
    return this.#cluster.writeParents(route, parents)
  }
}
