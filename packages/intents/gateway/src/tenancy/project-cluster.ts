import { keyOf, PROJECT, Stale, type Tenancy, uidOf } from '@spout/connector'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import type { BackendTlsPolicyObject, PolicyAncestorStatus } from '../objects/backend-tls-policy.ts'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { ListenerSet, ListenerSetStatus } from '../objects/listener-set.ts'
import type { RouteObject, RouteParentStatus } from '../objects/route.ts'

/** A cluster whose claims name the project. */
export interface ClaimingCluster extends Cluster {
  claim(gateway: Gateway, projectId?: string): Promise<void>
}

/** A view of the cluster with the Gateways of one project. Those of others are absent; what names them is shared. */
export class ProjectCluster implements Cluster {
  readonly #tenancy: Tenancy
  readonly #cluster: ClaimingCluster
  readonly #project: string

  constructor(tenancy: Tenancy, cluster: ClaimingCluster, project: string) {
    this.#tenancy = tenancy
    this.#cluster = cluster
    this.#project = project
  }

  get ready(): boolean {
    return this.#tenancy.ready && this.#cluster.ready
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    const unsubscribe = [
      this.#tenancy.onChange(this.#project, (key) => listener({ type: 'gateway', key })),
      this.#cluster.onChange((change) => {
        if (change.type !== 'gateway') listener(change)
      }),
    ]
    return () => {
      for (const one of unsubscribe) one()
    }
  }

  gatewayClass(name: string) {
    return this.#cluster.gatewayClass(name)
  }

  classes() {
    return this.#cluster.classes()
  }

  gateway(key: string): Gateway | undefined {
    return this.#tenancy.isOf(key, this.#project) ? this.#cluster.gateway(key) : undefined
  }

  *gateways(): Iterable<Gateway> {
    for (const key of this.#tenancy.keysOf(this.#project)) {
      const gateway = this.#cluster.gateway(key)
      if (gateway !== undefined) yield gateway
    }
  }

  isElsewhere(key: string): boolean {
    return this.#tenancy.isOfAnother(key, this.#project) || this.#tenancy.isWithheld(key)
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
    return this.#cluster.isHeld(key) || this.#tenancy.isWithheld(key)
  }

  /** A Gateway of another project counts as gone. */
  async isGone(key: string, uid: string): Promise<boolean> {
    const gateway = this.#cluster.gateway(key)
    if (gateway === undefined || uidOf(gateway) !== uid) return this.#cluster.isGone(key, uid)
    return !this.#tenancy.isWithheld(key) && !this.#tenancy.isOf(key, this.#project)
  }

  isClaimed(gateway: Gateway): boolean {
    return this.#cluster.isClaimed(gateway) && gateway.metadata.annotations?.[PROJECT] === this.#projectId()
  }

  async claim(gateway: Gateway): Promise<void> {
    this.#mustBeOurs(gateway)
    await this.#cluster.claim(gateway, this.#projectId())
  }

  release(gateway: Gateway): Promise<void> {
    return this.#cluster.release(gateway)
  }

  writeClass(one: GatewayClass, status: GatewayClass['status']): Promise<void> {
    return this.#cluster.writeClass(one, status)
  }

  async writeGateway(gateway: Gateway, status: GatewayStatus): Promise<void> {
    this.#mustBeOurs(gateway)
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

  #projectId(): string {
    const id = this.#tenancy.projectId(this.#project)
    if (id === null) throw new Error('the id of the project is not known')
    return id
  }

  /** It may have moved to another project meanwhile. */
  #mustBeOurs(gateway: Gateway): void {
    const key = keyOf(gateway)
    if (!this.#tenancy.isOf(key, this.#project)) throw new Stale(`${key} is of another project now`)
  }
}
