import { keyOf, noteDeparted } from '@spout/connector'
import type { Service } from '@spout/kube'
import { byAge } from '../objects/route.ts'
import type { ClusterChange } from './cluster.ts'
import type { ControllerContext } from './context.ts'
import { rivalOf } from './route-index.ts'

/** Keys of what is served. `leave` is a Gateway that has gone, or is no longer ours. */
export type ServedKind = 'gateway' | 'leave' | 'policy'
/** Keys of statuses that are written. */
export type ToldKind = 'class' | 'gateway-status' | 'route' | 'policy-status' | 'listener-set'
/** The kinds of keys in the controller's queues. */
export type Kind = ServedKind | ToldKind

/** Queues a key. @param namespace whose turn it takes; by default the part of the name before the first slash */
type Add = (kind: Kind, name: string, namespace?: string) => void

/** Handles changes of the cluster's objects: updates the indexes, and queues everything that depends on the object. */
export class ChangedObjects {
  readonly #context: ControllerContext
  readonly #add: Add
  readonly #forget: (gateway: string) => void
  /** Services that routes name, as they were at their last change. Tells a changed Service from changed endpoints. */
  readonly #services = new Map<string, Service>()

  /** @param forget called with a Gateway that is not ours, or no longer */
  constructor(context: ControllerContext, add: Add, forget: (gateway: string) => void) {
    this.#context = context
    this.#add = add
    this.#forget = forget
  }

  /** The content of a Secret or ConfigMap has changed, or it has gone. @param secret a key of `TlsCertificates` */
  secretChanged(secret: string): void {
    const { gateways, policies } = this.#context
    for (const gateway of gateways.ofSecret(secret)) this.#addGateway(gateway)
    for (const policy of policies.ofAuthorities(secret)) this.#policyChanged(policy)
  }

  /** An object of the cluster is new, has changed or has gone. */
  changed(change: ClusterChange): void {
    const { cluster, gateways, routes } = this.#context
    switch (change.type) {
      case 'class':
        this.#add('class', change.key)
        for (const gateway of cluster.gateways())
          if (gateway.spec.gatewayClassName === change.key) this.#gatewayChanged(keyOf(gateway))
        break
      case 'gateway':
        this.#gatewayChanged(change.key)
        break
      case 'listener-set':
        this.#listenerSetChanged(change.key)
        break
      case 'route':
        this.#routeChanged(change.key)
        break
      case 'policy':
        this.#policyChanged(change.key)
        break
      case 'service':
        this.#serviceChanged(change.key)
        break
      default:
        for (const route of routes.ids()) this.addRoute(route)
        gateways.nameSecretsAgain()
        this.addAll()
    }
  }

  #gatewayChanged(key: string): void {
    const { cluster, gateways, routes, known } = this.#context
    const { before, ownership, isChanged } = gateways.put(key, cluster.gateway(key))
    noteDeparted(this.#context, before, gateways.get(key)?.uid)
    if (ownership === 'ours') this.#add('gateway', key)
    else this.#forget(key)
    if (ownership === 'deleting' || ownership === 'released' || known.ofKey(key).length > 0) this.#add('leave', key)
    // A write to the Gateway's status, for example, changes nothing for its routes.
    if (isChanged) {
      this.#context.stale.whole(key)
      for (const route of routes.ofGateway(key)) this.addRoute(route)
    }
    const wasOurs = before?.ownership === 'ours' || before?.ownership === 'deleting'
    if (wasOurs && gateways.get(key) === null) this.leaveListenerSets(key)
  }

  #listenerSetChanged(key: string): void {
    const { cluster, gateways, listenerSets, routes } = this.#context
    const { before, after, isSame } = listenerSets.put(key, cluster.listenerSet(key))
    const named = [...new Set([before, after])].filter((one) => one !== null)
    // A status changes nothing for the Gateway.
    for (const gateway of named) isSame ? this.lookAtGateway(gateway) : this.#addGateway(gateway)
    if (isSame) return
    for (const gateway of named) gateways.listenerSetsChanged(gateway)
    for (const route of routes.ofListenerSet(key)) this.#routeChanged(route)
    // Listeners of other ListenerSets that conflicted with this one may now be accepted.
    for (const gateway of named) for (const route of routes.ofGateway(gateway)) this.addRoute(route)
    if (before !== null && before !== after && gateways.isOurs(before)) this.#add('listener-set', key)
  }

  /** A Gateway is gone, so its ListenerSets are served by nobody. */
  leaveListenerSets(gateway: string): void {
    for (const set of this.#context.cluster.listenerSetsOf(gateway)) this.#add('listener-set', keyOf(set))
  }

  #routeChanged(id: string): void {
    const { cluster, routes } = this.#context
    const { before, after, affected, isChanged } = routes.put(id, cluster.route(id))
    this.addRoute(id)
    // A write to the route's status, for example, changes nothing else.
    if (!isChanged) return
    for (const other of affected) this.addRoute(other)
    for (const service of before.services) this.#addPoliciesOf(service)
    for (const gateway of new Set([...before.gateways, ...after.gateways])) {
      this.#addGatewayFor(gateway, [id])
      this.#addRivals(gateway, id)
      if (before.expressions !== after.expressions) this.#addYounger(gateway, id)
    }
  }

  /** Queues the younger routes with expressions: the limit on expressions may now admit them, or refuse them. */
  #addYounger(gateway: string, id: string): void {
    const { cluster, routes } = this.#context
    const changed = cluster.route(id)
    for (const other of routes.withExpressions(gateway)) {
      const one = cluster.route(other)
      if (changed === undefined || (one !== undefined && byAge(one, changed) > 0)) this.addRoute(other)
    }
  }

  /** Queues the routes that compete with this one for a host name. */
  #addRivals(gateway: string, id: string): void {
    const { routes } = this.#context
    const rival = rivalOf(id)
    const others = rival !== null && routes.hasKind(gateway, rival) ? routes.ofGateway(gateway) : []
    for (const route of others) this.addRoute(route)
  }

  #addWithGateways(route: string): void {
    this.addRoute(route)
    for (const gateway of this.#context.routes.of(route).gateways) this.#addGatewayFor(gateway, [route])
  }

  /** A Service or its endpoints have changed. The statuses of routes do not depend on endpoints. */
  #serviceChanged(key: string): void {
    const { cluster, routes } = this.#context
    const own = [...routes.ofService(key)]
    const service = cluster.service(key)
    // Without an entry we cannot tell what has changed, so the Service itself counts as changed.
    const isAnother = !this.#services.has(key) || this.#services.get(key) !== service
    if (service === undefined || own.length === 0) this.#services.delete(key)
    else this.#services.set(key, service)
    for (const route of own) {
      if (isAnother) this.#addWithGateways(route)
      else for (const gateway of routes.of(route).gateways) this.#addGatewayFor(gateway, [])
    }
  }

  #policyChanged(key: string): void {
    const { cluster, policies, routes } = this.#context
    this.#add('policy', key)
    for (const service of policies.put(key, cluster.policy(key))) {
      // If two policies target one Service, the older one applies: a change of one may affect the other.
      this.#addPoliciesOf(service)
      for (const route of routes.ofService(service)) this.#addWithGateways(route)
    }
  }

  #addPoliciesOf(service: string): void {
    for (const policy of this.#context.cluster.policiesOf(service)) this.#add('policy', keyOf(policy))
  }

  /** Queues a route, and the policies of the Services that it names. */
  addRoute(id: string): void {
    for (const service of this.#context.routes.of(id).services) this.#addPoliciesOf(service)
    this.#add('route', id, id.split('/', 2)[1] ?? '')
  }

  #addGateway(key: string): void {
    this.#context.stale.whole(key)
    this.lookAtGateway(key)
  }

  /** Queues a Gateway of which only these routes have changed; if there are none, only endpoints. */
  #addGatewayFor(key: string, routes: readonly string[]): void {
    this.#context.stale.routes(key, routes)
    this.lookAtGateway(key)
  }

  /** Queues a Gateway, if it is ours. */
  lookAtGateway(key: string): void {
    if (this.#context.gateways.isOurs(key)) this.#add('gateway', key)
  }

  /** Queues all Gateways. */
  addAll(): void {
    for (const key of this.#context.gateways.keys()) this.#addGateway(key)
  }
}
