import { type LoadBalancer, type Member, MOST_SLOTS, type Pool } from '@spout/model'
import { type Problem, problem } from '../reason.ts'
import { failureProblems } from './failure-settings.ts'
import { memberNetwork } from './member-network.ts'
import { poolMode } from './protocols.ts'
import type { ResolveContext } from './resolve.ts'

/**
 * Why members are refused that are added to a pool, or that replace others of the same address and port. Only these
 * members are checked: the document without them has been resolved before. Problems name fields such as
 * `put[0].address`.
 *
 * @param pool the pool with these members in it
 * @returns `unclear` if the decision needs the whole document. Then call `resolveLoadBalancer`
 */
export function addedMemberProblem(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'networkId'>,
  pool: Pool,
  put: readonly Member[],
  context: ResolveContext,
): Problem | 'unclear' | null {
  const mode = poolMode(loadBalancer, pool)
  if (pool.members.length > MOST_SLOTS && mode === 'l4')
    return problem('Unsupported', {
      field: 'put',
      reason: `a pool balanced per connection has at most ${MOST_SLOTS} members`,
    })
  const alone = { ...pool, members: [...put] }
  for (const found of failureProblems(alone, mode, 'pools[0]')) return named(found)
  // If the load balancer has no network yet, all members together determine it.
  if (loadBalancer.networkId === null) return 'unclear'
  const found = memberNetwork({ pools: [alone], listeners: [] }, null, {
    ...context,
    currentNetworkId: loadBalancer.networkId,
  })
  if (found !== null && 'problem' in found) return named(found.problem)
  return found === null || found.network.id === loadBalancer.networkId ? null : 'unclear'
}

const named = ({ code, params, fields = [] }: Problem): Problem => ({
  ...problem(code, { ...params, field: inPut(String(params['field'])) }),
  fields: fields.map(inPut),
})

const inPut = (field: string): string => field.replace('pools[0].members[', 'put[')
