import { Refused } from '@spout/client/native-api'
import { parseIp } from '@spout/net'
import { isAsRequested } from '../addresses/address-choice.ts'
import { firstGranted } from '../addresses/grants.ts'
import { loadBalancerIds } from '../addresses/ids.ts'
import { CLASS_ANNOTATION } from '../content/load-balancer-class.ts'
import { CLUSTER_ANNOTATION, ownersOf } from '../content/owners.ts'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { shown as printed } from '../refusal.ts'
import { choicesOf, Unsatisfiable } from './choices.ts'
import { refuseWithoutRoom } from './quota-room.ts'
import { replace, withoutRefused } from './say-content.ts'
import type { AddressContext, BringContext, WantedAddresses, WantedLoadBalancer } from './wanted.ts'

/**
 * The existing load balancer, if it can be kept; else null. A load balancer is deleted when its first address no longer
 * satisfies the request, or when it is of another class, because neither can be changed. Before that it is checked that
 * the new one can be created: that the class may be used, that the quota has room and, when the class changes, that
 * there is an address. Otherwise this throws, and the old one stays.
 * @throws Refused, Unsatisfiable
 */
export async function keptLoadBalancer(
  context: AddressContext,
  wanted: WantedAddresses,
): Promise<ShownLoadBalancer | null> {
  const shown = wanted.heldBy === null ? null : context.known.get(wanted.heldBy)
  if (shown === null) return null
  const changesClass = isOfAnotherClass(wanted, shown)
  if (!(changesClass || (await asksForAnother(context, wanted, shown)))) return shown
  const classId = await classIdOf(context, wanted)
  if (changesClass) await choicesOf(context, wanted)
  await refuseWithoutRoom(context, wanted, shown, classId)
  await context.service.delete(shown.document.id)
  context.known.forget(shown.document.id)
  return null
}

/**
 * Creates the load balancer with its first address, or replaces its content when that differs.
 * @throws Refused, Unsatisfiable
 */
export const bringContent = (
  context: BringContext,
  wanted: WantedLoadBalancer,
  kept: ShownLoadBalancer | null,
): Promise<ShownLoadBalancer> => (kept === null ? create(context, wanted) : replace(context, wanted.content, kept))

/**
 * Whether an object names another class than its load balancer is of, for example after its type was changed and back.
 */
const isOfAnotherClass = ({ request }: WantedAddresses, { document }: ShownLoadBalancer): boolean =>
  request.families.length > 0 && document.annotations[CLASS_ANNOTATION] !== request.loadBalancerClass

/** Whether the first address does not satisfy the request. */
async function asksForAnother(
  { pools }: AddressContext,
  { request }: WantedAddresses,
  { document }: ShownLoadBalancer,
): Promise<boolean> {
  const [primary] = document.vips
  if (primary === undefined) return false
  const asked = request.families.find(({ family }) => family === parseIp(primary.address).version)
  if (asked === undefined || (asked.address === null && request.pools === null)) return false
  return !isAsRequested(primary, request, request.pools === null ? [] : await pools())
}

async function create(context: BringContext, wanted: WantedLoadBalancer): Promise<ShownLoadBalancer> {
  const { founder, fields, content } = wanted
  const classId = await classIdOf(context, wanted)
  const [primary] = await choicesOf(context, wanted)
  if (primary === undefined || founder === null)
    throw new Unsatisfiable({ reason: 'NoAddressPool', field: fields.families, message: 'There is no address for it.' })
  for (const id of loadBalancerIds(context.projectId, founder)) {
    const shown = context.known.get(id)
    if (shown !== null) {
      // It is ours if another leader created it. It is not ours if the founder has left it to other objects.
      if (isOf(context, shown, founder)) return shown
      continue
    }
    try {
      return await firstGranted(primary, (vip) =>
        withoutRefused(context, id, content, (say) =>
          context.service.create(id, say, vip, context.patienceMs(), classId),
        ),
      )
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'AlreadyExists') throw error
      // It may have been created before an interruption, or by a previous leader.
      const there = await context.service.get(id)
      if (there !== null && isOf(context, there, founder)) {
        context.known.answered(there)
        return there
      }
    }
  }
  throw new Unsatisfiable({ reason: 'AlreadyExists', field: 'metadata.uid', message: 'No id is left for it.' })
}

/** The id of the class that a request names; undefined when it names none. @throws Unsatisfiable */
export async function classIdOf(
  { service }: AddressContext,
  { request: { loadBalancerClass: name }, fields }: WantedAddresses,
): Promise<string | undefined> {
  if (name === undefined) return undefined
  const found = await service.loadBalancerClass(name)
  if (found?.enabled === true) return found.id
  const field = fields.loadBalancerClass
  if (found !== null)
    throw new Unsatisfiable({
      ...{ reason: 'LoadBalancerClassDisabled', field },
      message: `The class of load balancers "${printed(name)}" is disabled: no new load balancers may use it.`,
    })
  throw new Unsatisfiable({
    ...{ reason: 'UnknownLoadBalancerClass', field },
    message: `There is no class of load balancers named "${printed(name)}" that the project may use.`,
  })
}

const isOf = ({ cluster, kind }: BringContext, { document }: ShownLoadBalancer, uid: string): boolean =>
  document.annotations[CLUSTER_ANNOTATION] === cluster && ownersOf(document, kind).has(uid)
