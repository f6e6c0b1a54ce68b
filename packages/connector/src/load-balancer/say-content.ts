import { Refused } from '@spout/client/native-api'
import type { LoadBalancerContent } from '../content/content.ts'
import { differenceTo, type PoolChange } from '../content/content-difference.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService, ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import type { LeftOut } from './left-out.ts'

/** What writing content needs. */
export interface SayContext {
  readonly service: LoadBalancerService
  readonly known: KnownLoadBalancers
  readonly leftOut: LeftOut
}

/** Limit for refused parts that are left out one by one. Beyond it, the whole change counts as refused. */
const MOST_REFUSED_MEMBERS = 100

/** Writes the content if the document differs. */
export async function replace(
  context: SayContext,
  wanted: LoadBalancerContent,
  shown: ShownLoadBalancer,
): Promise<ShownLoadBalancer> {
  const { id } = shown.document
  const first = context.leftOut.apply(id, wanted)
  const { says, alike } = context.known
  if (says.get(shown.document) === first) return shown
  const difference = differenceTo(shown.document, first, alike)
  if (difference === 'same') {
    says.set(shown.document, first)
    return shown
  }
  return withoutRefused(context, id, wanted, (content) => {
    // An earlier attempt may have written a part of the difference.
    const now = context.known.get(id) ?? shown
    const isFirst = content === first && now.document === shown.document
    return say(context, now, content, isFirst ? difference : differenceTo(now.document, content, context.known.alike))
  })
}

/**
 * Writes the difference. If only members and routes differ, the changes are sent instead of the whole document, so that
 * the cost depends on the change.
 */
async function say(
  { service, known }: SayContext,
  shown: ShownLoadBalancer,
  content: LoadBalancerContent,
  difference: ReturnType<typeof differenceTo>,
): Promise<ShownLoadBalancer> {
  const { id } = shown.document
  let now = shown
  if (difference === 'same') return now
  if (difference === 'whole') {
    const takesNames = content.dnsNames === undefined && (shown.document.dnsNames ?? []).length > 0
    return service.replace(id, takesNames ? { ...content, dnsNames: [] } : content)
  }
  for (const change of difference) {
    const made = await ('listenerId' in change
      ? service.changeRoutes(now, change).catch(nullIfRefused)
      : service.changeMembers(now, change).catch(nullUnlessMember(now, content, change)))
    // The call was refused as a whole: the pool or listener has changed meanwhile, another part is at fault, or an
    // earlier control plane has no such call. Replacing the whole document succeeds, or tells what is wrong.
    if (made === null) return service.replace(id, content)
    now = made
    known.answered(now)
  }
  return now
}

function nullIfRefused(error: unknown): null {
  if (error instanceof Refused) return null
  throw error
}

/**
 * An error handler for a change of members. It returns null when the change was refused as a whole.
 * @throws Refused with the field of the member in the content, when a member was refused
 */
const nullUnlessMember =
  ({ document }: ShownLoadBalancer, { pools }: LoadBalancerContent, { poolId, put }: PoolChange) =>
  (error: unknown): null => {
    if (!(error instanceof Refused)) throw error
    const pool = document.pools.findIndex(({ id }) => id === poolId)
    const places = new Map(pools[pool]?.members.map((member, at) => [member, at]))
    const inContent = error.fields.flatMap((one) => {
      const [, at, field] = /^put\[(\d+)\](.*)$/.exec(one) ?? []
      const place = at === undefined ? undefined : places.get(put[Number(at)]!)
      return place === undefined ? [] : [`pools[${pool}].members[${place}]${field}`]
    })
    if (inContent[0] === undefined) return null
    throw new Refused(error.code, error.message, inContent[0], inContent)
  }

/** Writes the content without the members, names and hosts that are refused. @param say writes a content */
export async function withoutRefused(
  { leftOut, known }: SayContext,
  id: string,
  whole: LoadBalancerContent,
  say: (content: LoadBalancerContent) => Promise<ShownLoadBalancer>,
): Promise<ShownLoadBalancer> {
  for (let refused = 0; ; refused++) {
    const content = leftOut.apply(id, whole)
    const { turn } = leftOut
    try {
      const shown = await say(content)
      known.answered(shown)
      return shown
    } catch (error) {
      if (!(error instanceof Refused) || refused >= MOST_REFUSED_MEMBERS) throw error
      // If refusals were forgotten during the call, subnets or routes have changed, and the member may be accepted now.
      if (leftOut.turn === turn && !leftOut.note(id, content, error)) throw error
    }
  }
}
