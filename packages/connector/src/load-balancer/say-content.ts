import { Refused } from '@spout/client/native-api'
import type { LoadBalancerContent } from '../content/content.ts'
import { differenceTo, type PoolChange } from '../content/content-difference.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService, ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import type { LeftOut } from './left-out.ts'

/** What is needed to write a content. */
export interface SayContext {
  readonly service: LoadBalancerService
  readonly known: KnownLoadBalancers
  readonly leftOut: LeftOut
}

/** At most this many members are refused one by one; then the change as a whole counts as refused. */
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
    // An earlier attempt may have written a part of it.
    const now = context.known.get(id) ?? shown
    const isFirst = content === first && now.document === shown.document
    return say(context, now, content, isFirst ? difference : differenceTo(now.document, content, context.known.alike))
  })
}

/**
 * Writes the difference. Changes of members and routes alone are sent as such: their cost does not depend on their
 * number.
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
    // The part that the call changes has changed meanwhile, the fault is elsewhere, or an earlier control plane has no
    // such call. Replacing the whole document shows what is wrong.
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

/** @throws Refused with the member's place in the content when one is refused */
const nullUnlessMember =
  ({ document }: ShownLoadBalancer, { pools }: LoadBalancerContent, { poolId, put }: PoolChange) =>
  (error: unknown): null => {
    if (!(error instanceof Refused)) throw error
    const [, at, field] = /^put\[(\d+)\](.*)$/.exec(error.field ?? '') ?? []
    const pool = document.pools.findIndex(({ id }) => id === poolId)
    const refused = at === undefined ? undefined : put[Number(at)]
    const member = refused === undefined ? -1 : (pools[pool]?.members.indexOf(refused) ?? -1)
    if (member < 0) return null
    throw new Refused(error.code, error.message, `pools[${pool}].members[${member}]${field}`)
  }

/** Writes the content and leaves out members and names that are refused. */
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
      // Subnets or routes came during the call: refused members may be accepted now.
      if (leftOut.turn === turn && !leftOut.note(id, content, error)) throw error
    }
  }
}
