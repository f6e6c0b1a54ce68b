import { MOST_POOL_MEMBERS, MOST_SLOTS } from '@spout/model'
import type { PoolContent } from '../content/content.ts'
import type { Refusal } from '../refusal.ts'

/** Protocols of pools whose members have a slot each. */
const BY_SLOT: readonly string[] = ['tcp', 'udp', 'sctp']

/**
 * How many members a pool can have. The control plane refuses a document with more as a whole: then nothing of it would
 * be followed any more.
 */
export const mostMembers = (protocol: PoolContent['protocol']): number =>
  BY_SLOT.includes(protocol) ? MOST_SLOTS : MOST_POOL_MEMBERS

const kindOf = (protocol: PoolContent['protocol']): string =>
  BY_SLOT.includes(protocol) ? 'a pool balanced per connection' : 'a pool'

/** What an object says whose pool has no room for some endpoints, however many: their number changes all the time. */
export const someEndpointsLeftOut = (pool: string, protocol: PoolContent['protocol'], field: string): Refusal => ({
  ...{ reason: 'EndpointsLeftOut', field },
  message: `${pool}: more endpoints than the ${mostMembers(protocol)} members of ${kindOf(protocol)}; those with the lowest addresses are its members.`,
})

/** What an object says of endpoints that its pool has no room for; null: there are none. */
export function endpointsLeftOut(
  count: number,
  pool: string,
  protocol: PoolContent['protocol'],
  field: string,
): Refusal | null {
  if (count === 0) return null
  return {
    ...{ reason: 'EndpointsLeftOut', field },
    message: `${pool}: ${count} left out: ${kindOf(protocol)} has at most ${mostMembers(protocol)} members.`,
  }
}
