import { isDeepStrictEqual } from 'node:util'
import { keyOf, uidOf } from '@spout/connector'
import { apiTime } from '@spout/kube'
import type { Clock } from '@spout/runtime'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import type { ListenerSet, ListenerSetStatus } from '../objects/listener-set.ts'
import type { ParentRef } from '../objects/references.ts'
import { authoritiesOfPolicy, judgePolicy, servicesOfPolicy } from '../to-model/backends/backend-tls.ts'
import type { CompiledGateway } from '../to-model/gateways/compile-gateway.ts'
import { routeOutcomes } from '../to-model/gateways/route-outcome.ts'
import { gatewayOf, gatewayOfSet } from '../to-model/listeners/listener-parents.ts'
import { classStatus } from '../write-back/class-status.ts'
import { type GatewayOutcome, gatewayStatus } from '../write-back/gateway-status.ts'
import { attachedSets, listenerSetStatus, unservedStatus } from '../write-back/listener-set-status.ts'
import { policyAncestors } from '../write-back/policy-status.ts'
import { routeParents } from '../write-back/route-status.ts'
import type { Cluster } from './cluster.ts'
import type { GatewayIndex } from './gateway-index.ts'
import type { Surroundings } from './options.ts'
import { isOurClass } from './ownership.ts'
import type { RouteIndex } from './route-index.ts'

interface Indexes {
  readonly gateways: GatewayIndex
  readonly routes: RouteIndex
}

/** Writes statuses that differ from what is shown. */
export class Statuses {
  readonly #cluster: Cluster
  readonly #clock: Clock
  /** When the status of each Gateway was last written. */
  readonly #toldAtMs = new Map<string, number>()
  #writes = 0

  constructor({ cluster, clock }: { readonly cluster: Cluster; readonly clock: Clock }) {
    this.#cluster = cluster
    this.#clock = clock
  }

  /** Status writes since the start. */
  get writes(): number {
    return this.#writes
  }

  async tellClass(name: string): Promise<void> {
    const one = this.#cluster.gatewayClass(name)
    if (one === undefined || !isOurClass(one)) return
    const status = classStatus(one, this.#now())
    if (isDeepStrictEqual(pick(one.status, status ?? {}), status)) return
    await this.#cluster.writeClass(one, status)
    this.#writes++
  }

  /** @param id `kind/namespace/name` */
  async tellRoute(id: string, { gateways, routes }: Indexes, surroundings: Surroundings): Promise<void> {
    const route = this.#cluster.route(id)
    if (route === undefined) return
    const gatewayAt = (key: string) => (gateways.isOurs(key) ? (this.#cluster.gateway(key) ?? null) : null)
    const found = (ids: readonly string[]) => ids.flatMap((one) => this.#cluster.route(one) ?? [])
    const routesAt = (key: string) => found(routes.ofGateway(key))
    const besideRivals = (key: string, rival: string) => (routes.hasKind(key, rival) ? routesAt(key) : [])
    const withExpressions = (key: string) => found(routes.withExpressions(key))
    const competing = () => found(routes.competingWith(id))
    const outcomes = routeOutcomes(route, gatewayAt, surroundings, competing, besideRivals, withExpressions)
    const { namespace = '' } = route.metadata
    const isElsewhere = (ref: ParentRef) =>
      this.#cluster.isElsewhere(gatewayOf(ref, namespace, (key) => this.#cluster.listenerSet(key)) ?? '')
    const parents = routeParents(route, outcomes, this.#now(), isElsewhere)
    if (isDeepStrictEqual(route.status?.parents ?? [], parents)) return
    await this.#cluster.writeParents(route, parents)
    this.#writes++
  }

  /** @param gateways our Gateways whose routes send to its Services */
  async tellPolicy(key: string, gateways: readonly string[], { certificateOf }: Surroundings): Promise<void> {
    const policy = this.#cluster.policy(key)
    if (policy === undefined) return
    // The policy is queued again when its certificate authorities have been read.
    const isRead = ({ type }: { readonly type: string }) => type !== 'waits'
    const isNeeded = gateways.length > 0
    if (isNeeded && ![...authoritiesOfPolicy(policy)].every((one) => isRead(certificateOf(one)))) return
    const others = servicesOfPolicy(policy).flatMap((service) => this.#cluster.policiesOf(service))
    const ancestors = policyAncestors(
      policy,
      judgePolicy(policy, others, certificateOf),
      gateways,
      this.#now(),
      (key) => this.#cluster.isElsewhere(key),
    )
    if (isDeepStrictEqual(policy.status?.ancestors ?? [], ancestors)) return
    await this.#cluster.writeAncestors(policy, ancestors)
    this.#writes++
  }

  /**
   * Writes the status of a Gateway. A change of nothing but counts of attached routes waits for `COUNTS_EVERY_MS`, so
   * that a burst of routes costs few writes.
   * @returns milliseconds after which to call again; 0 when the status is up to date
   */
  async tellGateway(gateway: Gateway, compiled: CompiledGateway, outcome: GatewayOutcome): Promise<number> {
    const key = keyOf(gateway)
    const current = this.#cluster.gateway(key)
    if (current === undefined || uidOf(current) !== uidOf(gateway)) return 0
    // A Gateway that has changed meanwhile is queued again.
    if (current.metadata.generation !== gateway.metadata.generation) return 0
    const attached = attachedSets(compiled).length
    const isCounted = attached > 0 || current.status?.attachedListenerSets !== undefined
    const status = {
      ...gatewayStatus(current, compiled, outcome, this.#now()),
      ...(isCounted && { attachedListenerSets: attached }),
    }
    if (isDeepStrictEqual(pick(current.status, status), status)) return 0
    const nextMs = (this.#toldAtMs.get(key) ?? Number.NEGATIVE_INFINITY) + COUNTS_EVERY_MS - this.#clock.monotonicMs()
    if (nextMs > 0 && isDeepStrictEqual(pick(uncounted(current.status), status), uncounted(status))) return nextMs
    await this.#cluster.writeGateway(current, status)
    this.#toldAtMs.set(key, this.#clock.monotonicMs())
    this.#writes++
    return 0
  }

  /** Called when a Gateway is no longer ours. @param key `namespace/name` */
  forgetGateway(key: string): void {
    this.#toldAtMs.delete(key)
  }

  /** Writes the statuses of the ListenerSets that name a Gateway of ours. */
  async tellListenerSets(
    gateway: Gateway,
    compiled: CompiledGateway,
    outcome: Pick<GatewayOutcome, 'progress'>,
  ): Promise<void> {
    for (const one of compiled.sets) {
      const current = this.#cluster.listenerSet(keyOf(one.set))
      // A ListenerSet that has changed meanwhile is queued again.
      if (current === undefined || current.metadata.generation !== one.set.metadata.generation) continue
      const status = listenerSetStatus({ ...one, set: current }, gateway, compiled, outcome, this.#now())
      await this.#writeListenerSet(current, status)
    }
  }

  /** Writes the status of a ListenerSet that named a Gateway of ours, and now names no Gateway that exists. */
  async tellUnserved(key: string): Promise<void> {
    const set = this.#cluster.listenerSet(key)
    if (set === undefined) return
    const gateway = gatewayOfSet(set)
    const cluster = this.#cluster
    const isThere = (key: string) =>
      cluster.gateway(key) !== undefined || cluster.isHeld(key) || cluster.isElsewhere(key)
    if (gateway !== null && isThere(gateway)) return
    await this.#writeListenerSet(set, unservedStatus(set.status ?? {}, set.metadata.generation ?? 0, this.#now()))
  }

  async #writeListenerSet(set: ListenerSet, status: Required<ListenerSetStatus>): Promise<void> {
    const shown = { conditions: set.status?.conditions ?? [], listeners: set.status?.listeners ?? [] }
    if (isDeepStrictEqual(shown, status)) return
    await this.#cluster.writeListenerSet(set, status)
    this.#writes++
  }

  #now(): string {
    return apiTime(this.#clock.now())
  }
}

/** Least time between two writes that change only counts of attached routes. */
const COUNTS_EVERY_MS = 200

const uncounted = (status: GatewayStatus = {}): GatewayStatus =>
  status.listeners === undefined
    ? status
    : { ...status, listeners: status.listeners.map((one) => ({ ...one, attachedRoutes: 0 })) }

/** The fields of the status that we write. */
const pick = (shown: object | undefined, wanted: object): object =>
  Object.fromEntries(Object.keys(wanted).map((name) => [name, (shown as Record<string, unknown> | undefined)?.[name]]))
