import { CHECK_KINDS, type NodePool, type Pool } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/** Failure settings that the pool's way of balancing does not support. */
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
  const { persistence } = pool
  if (persistence !== null && persistence.type !== 'source-ip' && mode !== 'http')
    yield problem('InvalidField', {
      field: `${field}.persistence.type`,
      reason: `${persistence.type} belongs to pools that carry HTTP; others have source-ip`,
    })
  if (persistence?.type === 'source-ip' && persistence.networks !== undefined && mode !== 'l4')
    yield problem('InvalidField', {
      field: `${field}.persistence.networks`,
      reason: 'belongs to pools that are balanced per connection, not behind the proxy',
    })
  if (pool.monitor !== null) {
    const { type } = pool.monitor
    const { over } = CHECK_KINDS[type]
    if ((over === 'udp' || over === 'sctp') && pool.protocol !== over)
      yield problem('InvalidField', {
        field: `${field}.monitor.type`,
        reason: `${type} belongs to pools of protocol ${over}, not ${pool.protocol}`,
      })
  }
  if (pool.resetOnDown && pool.protocol === 'udp')
    yield problem('InvalidField', {
      field: `${field}.resetOnDown`,
      reason: 'UDP has no connections to reset; its flows move in any case',
    })
  if (pool.protocol === 'sctp') yield* sctpProblems(pool, field)
}

function* sctpProblems(pool: Pool, field: string): Generator<Problem> {
  if (pool.resetOnDown)
    yield problem('InvalidField', {
      field: `${field}.resetOnDown`,
      reason: 'SCTP associations are not reset; those of a member that is down end by themselves',
    })
  const type = pool.monitor?.type
  if (type === undefined || CHECK_KINDS[type].over !== 'tcp') return
  const at = pool.members.findIndex(({ monitorPort }) => monitorPort === null)
  if (at >= 0)
    yield problem('InvalidField', {
      field: `${field}.members[${at}].monitorPort`,
      reason: `is required: a check of type ${type} asks over TCP, and the members' port speaks SCTP`,
    })
}
