import { Refused } from '@spout/client/native-api'
import type { LoadBalancerContent } from '../content/content.ts'
import { differenceTo } from '../content/content-difference.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService, ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import type { LeftOut } from './left-out.ts'

/** What writing a content needs. */
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
  const difference = differenceTo(shown.document, first, context.known.alike)
  if (difference === 'same') return shown
  return withoutRefused(context, id, wanted, (content) => {
    // An earlier attempt may have written a part of it.
    const now = context.known.get(id) ?? shown
    const isFirst = content === first && now.document === shown.document
    return say(context, now, content, isFirst ? difference : differenceTo(now.document, content, context.known.alike))
  })
}

/** Writes the difference. Changes of members and routes alone are sent as such: their cost does not depend on their number. */
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
    if ('listenerId' in change) {
      try {
        now = await service.changeRoutes(now, change)
        known.answered(now)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        // The listener has changed, or an earlier control plane has no such call: replacing the whole tells what is wrong.
        return service.replace(id, content)
      }
      continue
    }
    try {
      now = await service.changeMembers(now, change)
      known.answered(now)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const at = /^put\[(\d+)\](.*)$/.exec(error.field ?? '')
      const pool = now.document.pools.findIndex((one) => one.id === change.poolId)
      const put = change.put[Number(at?.[1] ?? Number.NaN)]
      const member = put === undefined ? -1 : (content.pools[pool]?.members.indexOf(put) ?? -1)
      // The pool has changed, or no member is at fault: replacing the whole tells what is wrong.
      if (put === undefined || member < 0) return service.replace(id, content)
      throw new Refused(error.code, error.message, `pools[${pool}].members[${member}]${at?.[2]}`)
    }
  }
  return now
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
