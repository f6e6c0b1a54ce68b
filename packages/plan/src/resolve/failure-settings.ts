import type { NodePool, Pool } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/** How a pool's members are to fail, where its way of balancing cannot do that. */
export function* failureProblems(pool: Pool, mode: NodePool['mode'], field: string): Generator<Problem> {
  const { passiveCheck: passive } = pool
  if (passive !== null && mode === 'l4')
    yield problem('Unsupported', {
      field: `${field}.passiveCheck`,
      reason: 'the packet path does not see what members answer: only pools behind the proxy can be watched',
    })
  else if (passive?.on === 'response' && mode !== 'http')
    yield problem('InvalidField', {
      field: `${field}.passiveCheck.on`,
      reason: 'response belongs to pools that carry HTTP; others have connection',
    })
  if (pool.monitor?.type === 'udp' && pool.protocol !== 'udp')
    yield problem('InvalidField', {
      field: `${field}.monitor.type`,
      reason: `udp belongs to pools of protocol udp, not ${pool.protocol}`,
    })
  if (pool.resetOnDown && pool.protocol === 'udp')
    yield problem('InvalidField', {
      field: `${field}.resetOnDown`,
      reason: 'UDP has no connections to reset; its flows move in any case',
    })
}
