import { Refused } from '@spout/client/native-api'
import {
  type BringContext,
  bringContent,
  bringFamilies,
  keptLoadBalancer,
  PoolAwaited,
  type Refusal,
  type ShownLoadBalancer,
  shownAddresses,
  Unsatisfiable,
  uidOf,
  type WantedLoadBalancer,
} from '@spout/connector'
import { ADDRESS_FIELDS, addressFieldOf } from '../to-model/address-request.ts'
import { externalAddresses } from '../to-model/external-ips.ts'
import { bringExternals } from './external-addresses.ts'
import { inOwnWords } from './own-words.ts'
import type { PlannedGroup } from './unit-plan.ts'

export interface Brought {
  readonly shown: ShownLoadBalancer | null
  /** Why the load balancer is not as requested. What it serves already stays in force. */
  readonly refusal: Refusal | null
  /** Whether the group only waits for a missing object, which the refusal names. */
  readonly waits?: boolean
  /** Why external addresses were refused, by address. */
  readonly refusedExternals?: ReadonlyMap<string, Refusal>
}

/**
 * Reconciles the load balancer of one group of Services. Makes no call when nothing differs; otherwise one call for the
 * document and one for each address that comes or goes.
 */
export async function bringTo(context: BringContext, group: PlannedGroup): Promise<Brought> {
  const wanted = wantedOf(group)
  let shown: ShownLoadBalancer | null = null
  try {
    shown = await keptLoadBalancer(context, wanted)
    shown = await bringContent(context, wanted, shown)
    if (group.services.length === 0) return { shown, refusal: null }
    const externals = await bringExternals(context, group.externals, shown)
    const families = await bringFamilies(context, wanted, externals.shown, externalAddresses(externals.shown.document))
    return { ...families, refusedExternals: externals.refused }
  } catch (error) {
    if (!(error instanceof Refused) && !(error instanceof Unsatisfiable)) throw error
    const stands = group.heldBy === null ? shown : context.known.get(group.heldBy)
    const refusal = error instanceof Unsatisfiable ? error.refusal : wanted.inOwnWords(error)
    return { shown: stands, refusal, waits: error instanceof PoolAwaited }
  }
}

function wantedOf({ heldBy, request, content, services }: PlannedGroup): WantedLoadBalancer {
  const addresses = addressFieldIn(services)
  const [founder] = services
  return {
    heldBy,
    request,
    content,
    founder: founder === undefined ? null : uidOf(founder.service),
    shownAddresses: services.flatMap(({ service }) => shownAddresses(service)),
    fields: { ...ADDRESS_FIELDS, addresses },
    inOwnWords: (refused) => inOwnWords(refused, addresses),
  }
}

/** The field that refusals name: the one in which the first Service that asks for a certain address does so. */
function addressFieldIn(services: PlannedGroup['services']): string {
  const saying = services.find(({ request }) => request.families.some(({ address }) => address !== null)) ?? services[0]
  return saying === undefined ? 'spec.loadBalancerIP' : addressFieldOf(saying.service)
}
