import {
  answeringPoolIds,
  type LoadBalancer,
  lacksPool,
  type Member,
  type MemberHealth,
  type Pool,
  type Serving,
} from '@spout/model'
import { endpointText } from '@spout/net'
import { isPanicking } from './effective-members.ts'

/** What is known of a pool's member. Undefined: it is not probed. */
export type HealthOf = (pool: Pool, memberId: string) => MemberHealth | undefined

/** How many members that are down a message names. */
const NAMED = 3

/**
 * How many of a load balancer's members answer, and why not all do. A member that is not checked, or not yet, counts as
 * answering, because it gets traffic.
 * @param healthOf undefined for members that are not probed
 */
export function servingOf(loadBalancer: LoadBalancer, healthOf: HealthOf): Serving {
  if (!loadBalancer.enabled) return nobody('Disabled', 'The load balancer is disabled.')
  const listeners = loadBalancer.listeners.filter(({ enabled }) => enabled)
  if (listeners.length === 0) return nobody('NoListeners', 'No listener is enabled.')
  const poolless = listeners.filter((one) => lacksPool(one, listeners))
  const used = answeringPoolIds(listeners)
  const pools = loadBalancer.pools.filter(({ id }) => used.has(id)).map((pool) => lookAt(pool, healthOf))
  const sum = (count: (pool: Look) => number): number => pools.reduce((total, pool) => total + count(pool), 0)
  const counts = { membersUp: sum(({ up }) => up), members: sum(({ members }) => members) }
  const empty = pools.find(({ members }) => members === 0)
  const dead = pools.find(({ up, members }) => members > 0 && up === 0)
  if (dead !== undefined) {
    const still = dead.panics ? ' Connections are sent to them all the same, since all failed at once.' : ''
    return { ...counts, state: 'no', reason: 'AllMembersDown', message: `${words(counts)} ${dead.why}${still}` }
  }
  if (empty !== undefined)
    return { ...counts, state: 'no', reason: 'NoMembers', message: 'A pool has no member that may take traffic.' }
  if (poolless.length > 0)
    return { ...counts, state: 'no', reason: 'NoPool', message: `Listener port ${poolless[0]?.port} has no pool.` }
  const failing = pools.find(({ up, members }) => up < members)
  if (failing !== undefined)
    return { ...counts, state: 'partly', reason: 'MembersDown', message: `${words(counts)} ${failing.why}` }
  return { ...counts, state: 'yes', reason: 'Serving', message: words(counts) }
}

interface Look {
  readonly up: number
  readonly members: number
  readonly why: string
  readonly panics: boolean
}

/** It allocates next to nothing where all answer: it is asked anew for hundreds of pools when one of them changes. */
function lookAt(pool: Pool, healthOf: HealthOf): Look {
  const down: Member[] = []
  let count = 0
  if (pool.enabled)
    for (const member of pool.members) {
      if (!takesTraffic(member)) continue
      count++
      if (healthOf(pool, member.id)?.health === 'down') down.push(member)
    }
  const seen = { up: count - down.length, members: count }
  if (down.length === 0) return { ...seen, why: '', panics: false }
  const members = pool.members.filter(takesTraffic)
  return {
    ...seen,
    why: whyDown(down, (id) => healthOf(pool, id)?.reason ?? 'no answer'),
    panics: isPanicking({ ...pool, members }, new Set(down.map(({ id }) => id))),
  }
}

const takesTraffic = ({ enabled, weight }: Member): boolean => enabled && weight > 0

function whyDown(down: readonly Member[], reasonOf: (id: string) => string): string {
  const named = down.slice(0, NAMED).map((member) => `${endpointText(member)} (${reasonOf(member.id)})`)
  const more = down.length > NAMED ? ` and ${down.length - NAMED} more` : ''
  return `Down: ${named.join(', ')}${more}.`
}

const words = ({ membersUp, members }: Pick<Serving, 'membersUp' | 'members'>): string =>
  `${membersUp} of ${members} ${members === 1 ? 'member answers' : 'members answer'}.`

const nobody = (reason: Serving['reason'], message: string): Serving => ({
  state: 'no',
  reason,
  message,
  membersUp: 0,
  members: 0,
})
