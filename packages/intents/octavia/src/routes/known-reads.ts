import type { Principal } from '@spout/admission/contract'
import { callerOf } from '../access/access.ts'
import type { OctaviaContext, ReadKnown } from '../access/context.ts'
import { DEFAULT_POLICY_SET } from '../access/policies.ts'
import { admitsJson } from '../wire/accepts.ts'
import { OctaviaFault } from '../wire/fault.ts'
import { findLoadBalancer, ownVips, snapshot } from './find.ts'
import { wholeText } from './load-balancers.ts'
import { type Known, MOUNTS } from './route.ts'

/** Matches the last part of a path that has no query, no escapes and no format suffix. */
const PLAIN_ID = /^[\w-]{1,64}$/
const COLLECTION = '/loadbalancers/'

/**
 * Finds reads of single load balancers, the requests that clients repeat most, so that the app can answer them without
 * routing.
 * @param prefix where the API is mounted
 * @returns null for every other path
 */
export function knownReads(context: OctaviaContext, known: Known, prefix: string): (path: string) => ReadKnown | null {
  const bases = new Set(MOUNTS.map((mount) => `${prefix}${mount}${COLLECTION}`))
  return (path) => {
    const base = path.slice(0, path.lastIndexOf('/') + 1)
    const id = path.slice(base.length)
    if (!bases.has(base) || !PLAIN_ID.test(id)) return null
    return ({ accept }, principal) => {
      const body = admitsJson(accept) ? textOf(context, known, id, principal) : null
      return body === null ? null : { route: `${base}:id`, body }
    }
  }
}

function textOf(context: OctaviaContext, known: Known, id: string, principal: Principal): string | null {
  const call = { context, known, principal: callerOf(principal, context.options.policySet ?? DEFAULT_POLICY_SET) }
  try {
    const lb = findLoadBalancer(call, id, 'reader')
    const text = known.loadBalancers.known({ snapshot: snapshot(call, lb), vips: ownVips(call, lb) })
    return text === null ? null : wholeText(text)
  } catch (error) {
    // Left to the route, which answers with the reason for the refusal.
    if (error instanceof OctaviaFault) return null
    throw error
  }
}
