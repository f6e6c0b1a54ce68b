import { Refused } from '@spout/client/native-api'
import {
  CLUSTER_ANNOTATION,
  chooseAddresses,
  type FamilyChoice,
  type FamilyWish,
  firstGranted,
  isWished,
  type KnownLoadBalancers,
  type KnownNetwork,
  type KnownPool,
  type LeftOut,
  type LoadBalancerService,
  loadBalancerIds,
  poolsHolding,
  type Refusal,
  reachableWish,
  requiredButUnreachable,
  type ShownLoadBalancer,
  shownAddresses,
  uidOf,
  unreachableFamilies,
} from '@spout/connector'
import { formatIp, isIp, parseIp } from '@spout/net'
import { ADDRESS_FIELDS, addressFieldOf } from '../to-model/address-wish.ts'
import { externalAddresses } from '../to-model/external-ips.ts'
import { servicesOf } from '../to-model/services-of.ts'
import { bringExternals } from './external-addresses.ts'
import { inOwnWords } from './own-words.ts'
import { replace, withoutRefused } from './said-content.ts'
import type { PlannedGroup } from './unit-plan.ts'

export interface AddressGroupContext {
  readonly service: LoadBalancerService
  readonly known: KnownLoadBalancers
  readonly leftOut: LeftOut
  readonly projectId: string
  readonly cluster: string
  /** Names of pools for Services that name none; empty takes any. */
  readonly defaultPools: readonly string[]
  readonly pools: () => Promise<readonly KnownPool[]>
  /** Of the project: an address of a family that none of them has is not asked for. */
  readonly networks: readonly KnownNetwork[]
  /** Addresses that the Services show and the control plane does not know may come back with their pools. */
  readonly awaitsPools: boolean
  /** How long what is made may wait for others that are made with it. */
  readonly patienceMs: () => number
}

export interface Brought {
  readonly shown: ShownLoadBalancer | null
  /** Why it is not as wished; what is there stays in force. */
  readonly refusal: Refusal | null
  /** It is not refused: it waits for what the refusal says is missing. */
  readonly waits?: boolean
  /** External addresses that cannot be had, and why. */
  readonly refusedExternals?: ReadonlyMap<string, Refusal>
}

/**
 * Brings the load balancer of one group of Services to what is wanted: nothing when it is so already, else one call for
 * the document and one for each address that comes or goes.
 */
export async function bringTo(context: AddressGroupContext, group: PlannedGroup): Promise<Brought> {
  const { known, service } = context
  let shown = group.heldBy === null ? null : known.get(group.heldBy)
  // A load balancer's first address cannot be changed: another one is another load balancer.
  if (shown !== null && (await asksForAnother(context, group, shown))) {
    await service.delete(shown.document.id)
    known.forget(shown.document.id)
    shown = null
  }
  try {
    shown = shown === null ? await create(context, group) : await replace(context, group, shown)
    if (group.services.length === 0) return { shown, refusal: null }
    const externals = await bringExternals(context, group.externals, shown)
    return { ...(await balanceFamilies(context, group, externals.shown)), refusedExternals: externals.refused }
  } catch (error) {
    if (!(error instanceof Refused) && !(error instanceof NotWished)) throw error
    const stands = group.heldBy === null ? shown : known.get(group.heldBy)
    return { shown: stands, refusal: refusalOf(error, group), waits: error instanceof PoolAwaited }
  }
}

/** A refusal of ours, thrown only as far as `bringTo`. */
class NotWished extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** The address that Services show is in a pool that is yet to come. */
class PoolAwaited extends NotWished {
  constructor(address: string) {
    super({
      reason: 'AddressPoolAwaited',
      field: 'status.loadBalancer.ingress',
      message: `${address} is in no address pool of the control plane, which knows no load balancer of this cluster: it may be about to be configured again.`,
    })
  }
}

/** Services that share an address say alike which one; the first that says so counts. */
function addressFieldIn(services: PlannedGroup['services']): string {
  const saying = services.find(({ wish }) => wish.families.some(({ address }) => address !== null)) ?? services[0]
  return saying === undefined ? 'spec.loadBalancerIP' : addressFieldOf(saying.service)
}

const refusalOf = (error: Refused | NotWished, { services }: PlannedGroup): Refusal =>
  error instanceof NotWished ? error.refusal : inOwnWords(error, addressFieldIn(services))

async function asksForAnother(
  { pools }: AddressGroupContext,
  { wish }: PlannedGroup,
  { document }: ShownLoadBalancer,
): Promise<boolean> {
  const [primary] = document.vips
  if (primary === undefined) return false
  const asked = wish.families.find(({ family }) => family === parseIp(primary.address).version)
  if (asked === undefined || (asked.address === null && wish.pools === null)) return false
  return !isWished(primary, wish, wish.pools === null ? [] : await pools())
}

async function create(context: AddressGroupContext, group: PlannedGroup): Promise<ShownLoadBalancer> {
  const [primary] = await choicesOf(context, group)
  const founder = group.services[0]?.service
  if (primary === undefined || founder === undefined)
    throw new NotWished({ reason: 'NoAddressPool', field: 'spec.ipFamilies', message: 'There is no address for it.' })
  for (const id of loadBalancerIds(context.projectId, uidOf(founder))) {
    const shown = context.known.get(id)
    if (shown !== null) {
      // Whoever else leads, or still does, was quicker; or the founder has left it to others.
      if (isOf(shown, context.cluster, uidOf(founder))) return shown
      continue
    }
    try {
      return await firstGranted(primary, (vip) =>
        withoutRefused(context, id, group.content, (content) =>
          context.service.create(id, content, vip, context.patienceMs()),
        ),
      )
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'AlreadyExists') throw error
      // Made before an interruption, or by who led before us.
      const there = await context.service.get(id)
      if (there !== null && isOf(there, context.cluster, uidOf(founder))) {
        context.known.answered(there)
        return there
      }
    }
  }
  throw new NotWished({ reason: 'AlreadyExists', field: 'metadata.uid', message: 'No id is left for it.' })
}

const isOf = ({ document }: ShownLoadBalancer, cluster: string, uid: string): boolean =>
  document.annotations[CLUSTER_ANNOTATION] === cluster && servicesOf(document).has(uid)

async function choicesOf(context: AddressGroupContext, group: PlannedGroup): Promise<readonly FamilyChoice[]> {
  const before = group.services.flatMap(({ service }) => shownAddresses(service))
  const pools = await context.pools()
  const lost = context.awaitsPools ? before.find((address) => isIp(address) && !isInPool(address, pools)) : undefined
  if (lost !== undefined) throw new PoolAwaited(lost)
  const families = group.wish.families.map(({ family }) => family)
  const unreachable = unreachableFamilies(families, context.networks, ADDRESS_FIELDS.families)
  const refusal = requiredButUnreachable(group.wish, unreachable)
  if (refusal !== null) throw new NotWished(refusal)
  const wish = reachableWish(group.wish, unreachable)
  const chosen = chooseAddresses(wish, pools, context.defaultPools, before, {
    ...ADDRESS_FIELDS,
    addresses: addressFieldIn(group.services),
  })
  if ('refusal' in chosen) throw new NotWished(chosen.refusal)
  return chosen.value
}

const isInPool = (address: string, pools: readonly KnownPool[]): boolean =>
  poolsHolding(formatIp(parseIp(address)), pools).length > 0

/** Adds the families that are missing and takes away what nobody asks for any more. The first address stays. */
async function balanceFamilies(
  context: AddressGroupContext,
  group: PlannedGroup,
  shown: ShownLoadBalancer,
): Promise<Brought> {
  const { wish } = group
  const { document } = shown
  const familyOf = (address: string) => parseIp(address).version
  const pools = wish.pools === null ? [] : await context.pools()
  const external = externalAddresses(document)
  const own = document.vips.filter(({ address }) => !external.includes(address))
  const leaving = own.slice(1).filter((vip) => !isWished(vip, wish, pools))
  const kept = own.filter((vip) => !leaving.includes(vip))
  const missing = wish.families.filter(({ family }) => !kept.some(({ address }) => familyOf(address) === family))
  if (leaving.length === 0 && missing.length === 0) return { shown, refusal: null }
  let now = shown
  for (const { address } of leaving) {
    now = await context.service.removeVip(document.id, address)
    context.known.answered(now)
  }
  return addFamilies(context, group, now, missing)
}

/** A family that the Service can do without and that cannot be had is no refusal. */
async function addFamilies(
  context: AddressGroupContext,
  group: PlannedGroup,
  shown: ShownLoadBalancer,
  missing: readonly FamilyWish[],
): Promise<Brought> {
  let now = shown
  let refusal: Refusal | null = null
  const choices = missing.length === 0 ? [] : await choicesOf(context, group)
  for (const { family, required } of missing) {
    const choice = choices.find((one) => one.family === family)
    if (choice === undefined) continue
    try {
      now = await firstGranted(choice, (vip) => context.service.addVip(shown.document.id, vip))
      context.known.answered(now)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (required) refusal = refusalOf(error, group)
    }
  }
  return { shown: now, refusal }
}
