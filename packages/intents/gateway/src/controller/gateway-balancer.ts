import { isDeepStrictEqual } from 'node:util'
import {
  alone,
  backendPool,
  Confirmations,
  LeftOut,
  memberFamilies,
  nameRefused,
  ownersOf,
  type PoolContent,
  REFUSED_RETRY_MS,
  type Refusal,
  SHORTLY_MS,
  type ShownLoadBalancer,
  uidOf,
} from '@spout/connector'
import { poolTls } from '@spout/model'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import type { Gateway } from '../objects/gateway.ts'
import { authoritiesOfPolicy } from '../to-model/backend-tls.ts'
import type { Backend } from '../to-model/backends.ts'
import { type CompiledGateway, compileGateway } from '../to-model/compile-gateway.ts'
import { bringGateway } from './bring-gateway.ts'
import type { ControllerContext } from './context.ts'
import { surroundingsOf } from './options.ts'
import { withAddresses } from './shown-addresses.ts'

/** Reconciles the load balancers of Gateways, and tells what came of it. */
export class GatewayBalancer {
  readonly leftOut: LeftOut
  readonly #context: ControllerContext
  readonly #confirmations = new Confirmations()
  readonly #refused = new Set<string>()

  constructor(context: ControllerContext) {
    this.#context = context
    this.leftOut = new LeftOut(context.clock, REFUSED_RETRY_MS)
  }

  /** Gateways whose load balancer is not as requested. */
  get refusedGateways(): readonly string[] {
    return [...this.#refused]
  }

  /** A load balancer is gone. */
  forget(id: string): void {
    this.#confirmations.forget(id)
    this.leftOut.forget(id)
  }

  async balance(key: string): Promise<Outcome> {
    const { cluster, gateways, known, routes, busy, addLeaving } = this.#context
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
    // When they have been read and stored, this Gateway is looked at again.
    if (!gateways.knowsSecrets(key)) return done
    const routeIds = routes.ofGateway(key)
    if (!routeIds.every((id) => this.#knowsAuthorities(routes.of(id).services))) return done
    const own = routeIds.flatMap((id) => cluster.route(id) ?? [])
    const families = memberFamilies(this.#context.networks.all, [4, 6])
    const compiled = compileGateway(gateway, own, {
      ...surroundingsOf(this.#context),
      poolOf: (name, backend) => ({
        ...backendPool(name, backend.port, cluster.slicesOf(backend.service), families, backend.protocol),
        ...spokenTo(backend),
      }),
    })
    const ids = known.ofUid(uidOf(gateway)).map(({ document }) => document.id)
    return alone(busy, ids, key, () => this.#bring(key, gateway, compiled))
  }

  /** Whether all authorities of the policies of Services have been looked at. */
  #knowsAuthorities(services: ReadonlySet<string>): boolean {
    const { cluster, certificates } = this.#context
    for (const service of services)
      for (const policy of cluster.policiesOf(service))
        for (const authorities of authoritiesOfPolicy(policy))
          if (certificates.of(authorities).type === 'waits') return false
    return true
  }

  async #bring(key: string, gateway: Gateway, compiled: CompiledGateway): Promise<Outcome> {
    const { service, settings, known, pools, networks, restoration, statuses } = this.#context
    const { shown: brought, notMade } = await bringGateway(
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
    const shown = brought === null ? null : (known.get(brought.document.id) ?? brought)
    this.#tellHosts(key, shown, compiled)
    const progress =
      notMade ??
      (shown === null
        ? ({ type: 'pending', reason: 'Allocating', message: 'It is being created.' } as const)
        : this.#confirmations.progressOf(shown, programmedSince(gateway), null))
    const addresses = (shown?.document.vips ?? []).map(({ address }) => address)
    const nameNotices = [...compiled.nameNotices, ...this.#refusedNames(shown, compiled)]
    await statuses.tellGateway(gateway, compiled, { progress, addresses, nameNotices })
    await statuses.tellListenerSets(gateway, compiled, { progress })
    const isWhole = notMade === null && (shown === null || !this.leftOut.has(shown.document.id))
    if (isWhole) this.#refused.delete(key)
    else this.#refused.add(key)
    return isWhole ? done : retryAfter(REFUSED_RETRY_MS)
  }

  /** Routes say which of their hosts are refused. */
  #tellHosts(key: string, shown: ShownLoadBalancer | null, { wanted }: CompiledGateway): void {
    const { refusedHosts, addRoutesOf } = this.#context
    const now = shown === null || wanted === null ? [] : this.leftOut.hosts(shown.document.id, wanted.content)
    if (isDeepStrictEqual(refusedHosts.get(key) ?? [], now)) return
    if (now.length === 0) refusedHosts.delete(key)
    else refusedHosts.set(key, now)
    addRoutesOf(key)
  }

  /** A name that another load balancer has. */
  #refusedNames(shown: ShownLoadBalancer | null, { wanted }: CompiledGateway): readonly Refusal[] {
    const names = wanted?.content.dnsNames ?? []
    const refused = shown === null ? null : this.leftOut.name(shown.document.id, names)
    return refused === null ? [] : [nameRefused(refused.name, 'spec', refused.reason)]
  }
}

const programmedSince = ({ status }: Gateway): string | null => {
  const found = status?.conditions?.find(({ type }) => type === 'Programmed')
  return found?.status === 'True' ? found.lastTransitionTime : null
}

/** With TLS the version of HTTP is agreed upon there (ALPN). */
function spokenTo({ http2, tls = null }: Backend): Pick<PoolContent, 'http2' | 'tls'> {
  if (tls === null) return http2 ? { http2 } : {}
  return { tls: poolTls.parse({ ...tls, alpn: [http2 ? 'h2' : 'http/1.1'] }) }
}
