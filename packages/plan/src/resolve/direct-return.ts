import { isProxied, type Listener, type LoadBalancer, type Member } from '@spout/model'
import { parseIp } from '@spout/net'
import { type Problem, problem } from '../reason.ts'

type Document = Pick<LoadBalancer, 'listeners' | 'pools'>

/**
 * The settings of a load balancer that return path `dsr` does not support. Packets reach members unchanged, and replies
 * do not pass through the node. So ports cannot change, and connections can neither be proxied nor counted.
 * @param before the stored document, so that the error names the part that is new
 */
export function* directReturnProblems(
  loadBalancer: Document & { readonly vips: readonly { readonly address: string }[] },
  before: Document | null,
): Generator<Problem> {
  const families = new Set(loadBalancer.vips.map(({ address }) => parseIp(address).version))
  for (const [index, listener] of loadBalancer.listeners.entries()) {
    const field = `listeners[${index}]`
    if (isProxied(listener.protocol)) {
      const reason = `${listener.protocol} goes through a proxy, and members of a network with return path dsr answer clients directly: only tcp, udp and sctp can`
      yield problem('Unsupported', { field: `${field}.protocol`, reason })
      continue
    }
    if (listener.connectionLimit !== null) {
      const reason = 'with return path dsr nodes do not see connections end, so none are counted'
      yield problem('Unsupported', { field: `${field}.connectionLimit`, reason })
    }
    const at = loadBalancer.pools.findIndex(({ id }) => id === listener.defaultPoolId)
    for (const [place, member] of (loadBalancer.pools[at]?.members ?? []).entries()) {
      const memberField = `pools[${at}].members[${place}]`
      if (member.port !== listener.port) yield portProblem(listener, field, member, memberField, before)
      const { version } = parseIp(member.address)
      if (families.has(version)) continue
      const reason = `${member.address} is IPv${version} and no VIP is: with return path dsr members hold the VIP`
      yield problem('InvalidField', { field: `${memberField}.address`, reason })
    }
  }
}

/** Names the listener if it is new or changed, else the member. */
function portProblem(
  listener: Listener,
  listenerField: string,
  member: Member,
  memberField: string,
  before: Document | null,
): Problem {
  const known = before?.pools.some(({ members }) =>
    members.some(({ id, port }) => id === member.id && port === member.port),
  )
  if (known !== true) {
    const reason = `must be ${listener.port}, the port of listener ${listener.id}: return path dsr does not change ports`
    return problem('InvalidField', { field: `${memberField}.port`, reason })
  }
  const former = before?.listeners.find(({ id }) => id === listener.id)
  const isPort = former === undefined || former.port !== listener.port
  const reason = `member ${member.id} has port ${member.port}, not ${listener.port}: return path dsr does not change ports`
  return problem('InvalidField', { field: `${listenerField}.${isPort ? 'port' : 'defaultPoolId'}`, reason })
}
