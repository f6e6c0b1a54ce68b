import { isDeepStrictEqual } from 'node:util'
import {
  alone,
  Confirmations,
  LeftOut,
  memberFamilies,
  nameRefused,
  ownersOf,
  REFUSED_RETRY_MS,
  type Refusal,
  SHORTLY_MS,
  type ShownLoadBalancer,
  uidOf,
} from '@spout/connector'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import type { Gateway } from '../objects/gateway.ts'
import { authoritiesOfPolicy } from '../to-model/backends/backend-tls.ts'
import type { CompiledGateway } from '../to-model/gateways/compile-gateway.ts'
import { GatewayCompilation, type StaleParts } from '../to-model/gateways/gateway-compilation.ts'
import { BEYOND_LIMIT } from '../to-model/gateways/within-limit.ts'
import type { GatewayOutcome } from '../write-back/gateway-status.ts'
import { BackendPools } from './backend-pools.ts'
import { type BroughtGateway, bringGateway, type TooMuch } from './bring-gateway.ts'
import type { ControllerContext } from './context.ts'
import { surroundingsOf } from './options.ts'
import { withAddresses } from './shown-addresses.ts'

interface ToTell {
  readonly gateway: Gateway
  readonly compiled: CompiledGateway
  readonly outcome: GatewayOutcome
}

/**
 * Reconciles the load balancers of Gateways. The outcomes are written to their statuses by `tell`, for which the next
 * change of a Gateway does not wait: the API server may be slow.
 */
export class GatewayBalancer {
  readonly leftOut: LeftOut
  readonly #context: ControllerContext
  readonly #confirmations = new Confirmations()
  readonly #refused = new Set<string>()
  /** What the status of a Gateway has to say and does not yet, by key. */
  readonly #toTell = new Map<string, ToTell>()
  /** The last compilation of each Gateway, by key: the next one starts from it. */
  readonly #kept = new Map<string, { readonly compilation: GatewayCompilation; readonly pools: BackendPools }>()

  constructor(context: ControllerContext) {
    this.#context = context
    this.leftOut = new LeftOut(context.clock, REFUSED_RETRY_MS)
  }

  /** Gateways whose load balancer is not as requested. */
  get refusedGateways(): readonly string[] {
    return [...this.#refused]
  }

  /** Called when a Gateway is no longer ours. @param key `namespace/name` */
  forgetGateway(key: string): void {
    const { stale, statuses } = this.#context
    this.#kept.delete(key)
    this.#toTell.delete(key)
    stale.whole(key)
    statuses.forgetGateway(key)
  }

  /** Called when a load balancer has gone. */
  forget(id: string): void {
    this.#confirmations.forget(id)
    this.leftOut.forget(id)
  }

  async balance(key: string): Promise<Outcome> {
    const { cluster, gateways, known, routes, stale, busy, addLeaving } = this.#context
    const gateway = cluster.gateway(key)
    if (gateway === undefined || gateways.ownershipOf(gateway) !== 'ours') return done
    // The load balancer of an earlier Gateway of this name must go first.
    const others = known.ofKey(key).filter(({ document }) => !ownersOf(document, 'gateway').has(uidOf(gateway)))
    if (others.length > 0) {
      addLeaving(key)
      return retryAfter(SHORTLY_MS)
    }
    if (!cluster.isClaimed(gateway)) {
      await cluster.claim(gateway)
      return retryAfter(0)
    }
    // The Gateway is queued again when the certificates have been read and stored.
    if (!gateways.knowsSecrets(key)) return done
    const parts = stale.of(key)
    const concerned = parts === 'whole' ? routes.ofGateway(key) : parts === 'nothing' ? [] : parts
    for (const id of concerned) if (!this.#knowsAuthorities(routes.of(id).services)) return done
    const compiled = this.#compile(key, gateway, parts)
    const ids = known.ofUid(uidOf(gateway)).map(({ document }) => document.id)
    return alone(busy, ids, key, () => this.#bring(key, gateway, compiled))
  }

  #compile(key: string, gateway: Gateway, parts: StaleParts): CompiledGateway {
    const { cluster, routes, stale } = this.#context
    const { compilation, pools } = this.#kept.get(key) ?? {
      compilation: new GatewayCompilation(),
      pools: new BackendPools(cluster),
    }
    this.#kept.set(key, { compilation, pools })
    const families = memberFamilies(this.#context.networks.all, [4, 6])
    const source = {
      get: (id: string) => cluster.route(id),
      all: () => routes.ofGateway(key).flatMap((id) => cluster.route(id) ?? []),
    }
    const compiled = compilation.compile(gateway, parts, source, {
      ...surroundingsOf(this.#context),
      poolOf: (name, backend) => pools.poolOf(name, backend, families),
    })
    stale.compiled(key)
    return compiled
  }

  /** Whether all certificate authorities that the policies of these Services name have been read. */
  #knowsAuthorities(services: ReadonlySet<string>): boolean {
    const { cluster, certificates } = this.#context
    for (const service of services)
      for (const policy of cluster.policiesOf(service))
        for (const authorities of authoritiesOfPolicy(policy))
          if (certificates.of(authorities).type === 'waits') return false
    return true
  }

  async #bring(key: string, gateway: Gateway, compiled: CompiledGateway): Promise<Outcome> {
    const { service, settings, known, pools, networks, restoration, addStatusOf } = this.#context
    const outcome = await bringGateway(
      {
        ...{ service, known, leftOut: this.leftOut, kind: 'gateway', cluster: settings.cluster },
        ...{ defaultPools: settings.defaultPools, pools: () => pools.fresh(), networks: networks.all },
        projectId: await service.projectId(),
        awaitsPools: restoration.awaits(withAddresses(gateway)),
        patienceMs: () => 0,
      },
      gateway,
      compiled,
    )
    const { shown: brought, notMade, tooMuch } = outcome
    const shown = brought === null ? null : (known.get(brought.document.id) ?? brought)
    this.#tellHosts(key, shown, compiled)
    this.#tellTooMuch(key, withBeyond(tooMuch, compiled.beyond))
    const progress =
      notMade ??
      (shown === null
        ? ({ type: 'pending', reason: 'Allocating', message: 'It is being created.' } as const)
        : this.#confirmations.progressOf(shown, programmedSince(gateway), null))
    const addresses = (shown?.document.vips ?? []).map(({ address }) => address)
    const nameNotices = [...compiled.nameNotices, ...this.#refusedNames(shown, compiled)]
    const serving = shown?.status.serving ?? null
    const page = shown === null ? null : (settings.page?.(shown.document.id) ?? null)
    this.#toTell.set(key, { gateway, compiled, outcome: { progress, addresses, nameNotices, serving, page } })
    addStatusOf(key)
    const isWhole = notMade === null && (shown === null || !this.leftOut.has(shown.document.id))
    if (isWhole) this.#refused.delete(key)
    else this.#refused.add(key)
    return isWhole ? done : retryAfter(REFUSED_RETRY_MS)
  }

  /** Writes the outcome of the last `balance` to the statuses of a Gateway and of its ListenerSets. */
  async tell(key: string): Promise<Outcome> {
    const told = this.#toTell.get(key)
    if (told === undefined) return done
    const { statuses } = this.#context
    const { gateway, compiled, outcome } = told
    const againMs = await statuses.tellGateway(gateway, compiled, outcome)
    await statuses.tellListenerSets(gateway, compiled, outcome)
    if (againMs > 0) return retryAfter(againMs)
    // Another outcome may have come meanwhile.
    if (this.#toTell.get(key) === told) this.#toTell.delete(key)
    return done
  }

  /** Keeps the hosts that were refused. If they have changed, queues the Gateway's routes, whose statuses show them. */
  #tellHosts(key: string, shown: ShownLoadBalancer | null, { wanted }: CompiledGateway): void {
    const { refusedHosts, addRoutesOf } = this.#context
    const now = shown === null || wanted === null ? [] : this.leftOut.hosts(shown.document.id, wanted.content)
    if (isDeepStrictEqual(refusedHosts.get(key) ?? [], now)) return
    if (now.length === 0) refusedHosts.delete(key)
    else refusedHosts.set(key, now)
    addRoutesOf(key)
  }

  /**
   * Keeps the routes for which the quota, or a listener, has no room. If they have changed, queues those that have,
   * whose statuses show it.
   */
  #tellTooMuch(key: string, now: BroughtGateway['tooMuch']): void {
    const { tooMuch, addRoutesOf } = this.#context
    const before = tooMuch.get(key)
    if (isDeepStrictEqual(before, now)) return
    if (now === undefined) tooMuch.delete(key)
    else tooMuch.set(key, now)
    const [was, is] = [before, now].map((one) => one?.uids ?? new Set<string>())
    addRoutesOf(key, before?.message === now?.message ? was!.symmetricDifference(is!) : was!.union(is!))
  }

  /**
   * The first of the Gateway's DNS names that the control plane refused, for example because another load balancer has
   * it.
   */
  #refusedNames(shown: ShownLoadBalancer | null, { wanted }: CompiledGateway): readonly Refusal[] {
    const names = wanted?.content.dnsNames ?? []
    const refused = shown === null ? null : this.leftOut.name(shown.document.id, names)
    return refused === null ? [] : [nameRefused(refused.name, 'spec', refused.reason)]
  }
}

/** Routes beyond a listener's limit are not served either. */
const withBeyond = (tooMuch: TooMuch | undefined, beyond: ReadonlySet<string>): TooMuch | undefined =>
  beyond.size === 0
    ? tooMuch
    : { uids: beyond.union(tooMuch?.uids ?? new Set<string>()), message: tooMuch?.message ?? BEYOND_LIMIT }

const programmedSince = ({ status }: Gateway): string | null => {
  const found = status?.conditions?.find(({ type }) => type === 'Programmed')
  return found?.status === 'True' ? found.lastTransitionTime : null
}
