import { Refused } from '@spout/client/native-api'
import {
  type AddressRequest,
  alone,
  type BringContext,
  bringContent,
  bringFamilies,
  Confirmations,
  type Family,
  keptLoadBalancer,
  LeftOut,
  livingUnits,
  memberFamilies,
  NAMES_FIELD,
  nameRefused,
  ownersOf,
  REFUSED_RETRY_MS,
  type Refusal,
  type ShownLoadBalancer,
  shownAddresses,
  Unsatisfiable,
  uidOf,
  type WantedLoadBalancer,
  withoutNewRoutes,
} from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { configMapsOf } from '../ingress-nginx/custom-headers.ts'
import { loadBalancerClassOf } from '../to-model/classes.ts'
import { type Compiled, compile } from '../to-model/compile.ts'
import { dnsNamesOf } from '../to-model/dns-names.ts'
import { byAge } from '../to-model/rules.ts'
import { secretsOf } from '../to-model/secrets.ts'
import type { ControllerContext } from './context.ts'
import { classNameOf } from './ingress-index.ts'
import { ADDRESS_FIELDS, hostRefusal, inOwnWords } from './own-words.ts'

/** Reconciles the load balancer of a unit, and reports the outcome on its Ingresses. */
export class UnitBalancer {
  readonly leftOut: LeftOut
  readonly #context: ControllerContext
  readonly #confirmations = new Confirmations()
  readonly #refused = new Set<string>()

  constructor(context: ControllerContext) {
    this.#context = context
    this.leftOut = new LeftOut(context.clock, REFUSED_RETRY_MS)
  }

  /** Units whose load balancer differs from the wanted one. */
  get refusedUnits(): readonly string[] {
    return [...this.#refused]
  }

  /** A load balancer is gone. */
  forget(id: string): void {
    this.#confirmations.forget(id)
    this.leftOut.forget(id)
  }

  async balance(unit: string): Promise<Outcome> {
    const { cluster, index, busy, service } = this.#context
    const ingresses = index.keysOf(unit).flatMap((key) => cluster.ingress(key) ?? [])
    this.#nameSecrets(unit, ingresses)
    const configMaps = configMapsOf(ingresses)
    cluster.nameConfigMaps(unit, configMaps)
    if (ingresses.length === 0) {
      index.dependents.depend(unit, new Set())
      this.#refused.delete(unit)
      return done
    }
    // Until all ConfigMaps have been read, the load balancer stays as it is.
    const unread = [...configMaps].filter((key) => cluster.configMap(key) === null)
    if (unread.length > 0) {
      index.dependents.depend(unit, new Set(unread.map((key) => `config-map ${key}`)))
      return done
    }
    const held = this.#heldBy(unit, ingresses)
    const ids = held.map(({ document }) => document.id)
    return alone(busy, ids, unit, async () => {
      const outcome = await this.#bring(unit, ingresses, held[0] ?? null)
      // A unit has one load balancer. Others are of Ingresses that came from another class, and are deleted.
      for (const id of ids.slice(1)) {
        await service.delete(id)
        this.#context.known.forget(id)
      }
      return outcome
    })
  }

  /** Registers the Secrets of all units. */
  nameAllSecrets(): void {
    const { cluster, index } = this.#context
    for (const unit of index.units())
      this.#nameSecrets(
        unit,
        index.keysOf(unit).flatMap((key) => cluster.ingress(key) ?? []),
      )
  }

  #nameSecrets(unit: string, ingresses: readonly Ingress[]): void {
    this.#context.certificates.name(`ingress/${unit}`, secretsOf(ingresses))
  }

  /**
   * Load balancers that name an Ingress of the unit, and no existing Ingress of another unit. The first one is kept.
   */
  #heldBy(unit: string, ingresses: readonly Ingress[]): readonly ShownLoadBalancer[] {
    const { known, index } = this.#context
    const found = new Map(
      ingresses.flatMap((one) => known.ofUid(uidOf(one)).map((shown) => [shown.document.id, shown])),
    )
    const count = ({ document }: ShownLoadBalancer) => ownersOf(document, 'ingress').size
    return [...found.values()]
      .filter(({ document }) => livingUnits(index, document, 'ingress').every((one) => one === unit))
      .sort((a, b) => count(b) - count(a) || (a.document.id < b.document.id ? -1 : 1))
  }

  async #bring(unit: string, ingresses: readonly Ingress[], held: ShownLoadBalancer | null): Promise<Outcome> {
    const { cluster, index, certificates, domains, settings, statuses, known } = this.#context
    const ingressClass = cluster.classes().find(({ metadata }) => metadata.name === classNameOf(unit))
    const named = ingressClass === undefined ? { value: null } : loadBalancerClassOf(ingressClass)
    const families = memberFamilies(this.#context.networks.all, [4])
    const compiled = compile(ingresses, {
      cluster: settings.cluster,
      loadBalancerClass: 'refusal' in named ? null : named.value,
      service: (key) => cluster.service(key),
      slices: (key) => cluster.slicesOf(key),
      certificate: (key) => certificates.of(key),
      configMap: (key) => cluster.configMap(key),
      families,
      domains: domains.all,
    })
    index.dependents.depend(
      unit,
      new Set([
        ...[...compiled.services].map((key) => `service ${key}`),
        ...[...secretsOf(ingresses)].map((key) => `secret ${key}`),
        ...[...configMapsOf(ingresses)].map((key) => `config-map ${key}`),
      ]),
    )
    const { shown, refusal, tooMuch } =
      'refusal' in named
        ? { shown: held, refusal: named.refusal, tooMuch: null }
        : await this.#bringTo(ingresses, compiled, held, requestOf(families, named.value))
    const newest = shown === null ? null : (known.get(shown.document.id) ?? shown)
    const page = newest === null ? null : (settings.page?.(newest.document.id) ?? null)
    const refusedHosts = newest === null ? [] : this.leftOut.hosts(newest.document.id, compiled.content)
    for (const ingress of ingresses) {
      const ofShown = await this.#show(ingress, newest, page)
      const problems = [
        ...(compiled.problems.get(uidOf(ingress)) ?? []),
        ...refusedHosts
          .flatMap((one) => (one.uid === uidOf(ingress) ? hostRefusal(one) : []))
          .slice(0, MOST_HOSTS_TOLD),
        ...[newest === null ? null : this.#nameRefusal(newest.document.id, ingress), ...ofShown],
        tooMuch === null || tooMuch.has(uidOf(ingress)) ? refusal : null,
      ]
      statuses.tell(
        ingress,
        problems.filter((one) => one !== null),
        page,
      )
    }
    const isWhole = refusal === null && (newest === null || !this.leftOut.has(newest.document.id))
    if (isWhole) this.#refused.delete(unit)
    else this.#refused.add(unit)
    return isWhole ? done : retryAfter(REFUSED_RETRY_MS)
  }

  async #bringTo(
    ingresses: readonly Ingress[],
    { content }: Compiled,
    held: ShownLoadBalancer | null,
    request: AddressRequest,
  ): Promise<BroughtUnit> {
    const { service, known, pools, networks, settings } = this.#context
    const [oldest] = ingresses.toSorted(byAge)
    const wanted: WantedLoadBalancer = {
      heldBy: held?.document.id ?? null,
      request,
      content,
      founder: oldest === undefined ? null : uidOf(oldest),
      shownAddresses: ingresses.flatMap(shownAddresses),
      fields: ADDRESS_FIELDS,
      inOwnWords,
    }
    const context = {
      ...{ service, known, leftOut: this.leftOut, kind: 'ingress' as const, cluster: settings.cluster },
      ...{ defaultPools: settings.defaultPools, pools: () => pools.fresh(), networks: networks.all },
      projectId: await service.projectId(),
      awaitsPools: false,
      patienceMs: () => 0,
    }
    let shown: ShownLoadBalancer | null = held
    try {
      shown = await keptLoadBalancer(context, wanted)
      shown = await bringContent(context, wanted, shown)
      return { ...(await bringFamilies(context, wanted, shown, [])), tooMuch: null }
    } catch (error) {
      if (error instanceof Unsatisfiable) return { shown, refusal: error.refusal, tooMuch: null }
      if (!(error instanceof Refused)) throw error
      const refusal = inOwnWords(error)
      if (error.code !== 'OverQuota' || shown === null) return { shown, refusal, tooMuch: null }
      const { content: less, owners } = withoutNewRoutes(content, shown.document)
      const brought = owners.size === 0 ? null : await unlessRefused(context, { ...wanted, content: less }, shown)
      return brought === null ? { shown, refusal, tooMuch: null } : { shown: brought, refusal, tooMuch: owners }
    }
  }

  /**
   * Writes the address to the status once the nodes serve it. It stays there while they apply changes.
   * @returns why the nodes cannot serve it, that no member answers, or what else the user should know
   */
  async #show(
    ingress: Ingress,
    shown: ShownLoadBalancer | null,
    page: string | null,
  ): Promise<readonly (Refusal | null)[]> {
    if (shown === null) return []
    const { statuses } = this.#context
    const addresses = shown.document.vips.map(({ address }) => address)
    const before = shownAddresses(ingress)
    const since = addresses.some((address) => before.includes(address)) ? shown.document.createdAt : null
    const progress = this.#confirmations.progressOf(shown, since, null)
    if (progress.type === 'failed')
      return [{ reason: progress.reason, field: 'load balancer', message: progress.message }]
    if (progress.type !== 'programmed') return []
    await statuses.show(ingress, addresses, page)
    return [nobodyAnswers(shown), progress.notice]
  }

  /** The first of an Ingress's DNS names that the control plane refused; null when none was. */
  #nameRefusal(id: string, ingress: Ingress): Refusal | null {
    const refused = this.leftOut.name(id, dnsNamesOf(ingress, this.#context.domains.all).dnsNames)
    return refused === null ? null : nameRefused(refused.name, NAMES_FIELD, refused.reason)
  }
}

interface BroughtUnit {
  readonly shown: ShownLoadBalancer | null
  /** Why the load balancer is not as wanted; null when it is. */
  readonly refusal: Refusal | null
  /** UIDs of the Ingresses for whose routes the quota has no room; null when the refusal is about all Ingresses. */
  readonly tooMuch: ReadonlySet<string> | null
}

/**
 * Writes a content from which the routes of some Ingresses are left out.
 * @returns null when it is refused
 */
async function unlessRefused(
  context: BringContext,
  wanted: WantedLoadBalancer,
  shown: ShownLoadBalancer,
): Promise<ShownLoadBalancer | null> {
  try {
    return await bringContent(context, wanted, shown)
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

/** The notice that no member of some port is up; null when all ports have one. */
function nobodyAnswers({ status: { serving } }: ShownLoadBalancer): Refusal | null {
  return serving?.state === 'no' ? { reason: serving.reason, field: 'load balancer', message: serving.message } : null
}

/** At most this many refused hosts of one Ingress are reported. Its other problems have the same limit. */
const MOST_HOSTS_TOLD = 100

/**
 * The addresses for Ingresses, which name no families: one for each family that members can have. Only the first is
 * required.
 */
const requestOf = (families: readonly Family[], loadBalancerClass: string | null): AddressRequest => ({
  families: families.map((family, at) => ({ family, required: at === 0, address: null })),
  pools: null,
  ...(loadBalancerClass === null ? {} : { loadBalancerClass }),
})
