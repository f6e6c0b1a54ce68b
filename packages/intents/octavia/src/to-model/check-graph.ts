import type { Graph, OctaviaListener, OctaviaPool } from '../terms/octavia-resources.ts'
import { POOLS_OF_LISTENER } from '../terms/words.ts'
import { notFound, OctaviaFault, unsupportedOption, validationFailure } from '../wire/fault.ts'

/**
 * Checks the children of one load balancer against each other, with Octavia's messages.
 * @param vips addresses of the load balancer, or prefixes that they will come from
 * @throws OctaviaFault for the first violation
 */
export function checkGraph(graph: Graph, vips: readonly string[]): void {
  const pools = new Map(graph.pools.map((pool) => [pool.model.id, pool]))
  checkPorts(graph.listeners)
  for (const listener of graph.listeners) {
    checkPool(listener, listener.model.defaultPoolId, pools)
    checkPolicies(listener, pools)
    checkAllowedCidrs(listener, vips)
  }
  for (const pool of graph.pools) checkMonitor(pool)
  checkRuleIds(graph.listeners)
}

/** Checks the ids of rules. Admission checks those of all other children, but rules are not in the model. */
function checkRuleIds(listeners: readonly OctaviaListener[]): void {
  const taken = new Set<string>()
  for (const { policies } of listeners)
    for (const { rules } of policies)
      for (const { model } of rules) {
        if (taken.has(model.id)) throw validationFailure(`id: another rule has id ${model.id}.`)
        taken.add(model.id)
      }
}

/** Two listeners may share a port only if their transports differ. The later one is refused. */
function checkPorts(listeners: readonly OctaviaListener[]): void {
  const taken = new Map<string, OctaviaListener>()
  for (const listener of listeners) {
    const transport = listener.protocol === 'UDP' || listener.protocol === 'SCTP' ? listener.protocol : 'TCP'
    const key = `${transport} ${listener.model.port}`
    const other = taken.get(key)
    // Octavia has no protocol name for listeners that pass TLS on by server name. Those may share their port.
    const passes = [listener, other].some((one) => one?.model.protocol === 'tls-passthrough')
    if (other !== undefined && !passes)
      throw new OctaviaFault(
        409,
        `Another Listener on this Load Balancer is already using protocol ${other.protocol} and protocol_port ${listener.model.port}`,
      )
    taken.set(key, listener)
  }
}

function checkPolicies(listener: OctaviaListener, pools: ReadonlyMap<string, OctaviaPool>): void {
  const { protocol, policies, model } = listener
  const readsRequests = protocol === 'HTTP' || (protocol === 'TERMINATED_HTTPS' && model.protocol !== 'tls')
  if (policies.length > 0 && protocol === 'PROMETHEUS') throw noChildren(protocol)
  if (policies.length > 0 && !readsRequests)
    throw unsupportedOption(`listener_id: a listener of protocol ${protocol} does not look at requests`)
  for (const { redirectPoolId } of policies) checkPool(listener, redirectPoolId, pools)
}

function checkPool(
  { protocol, model }: OctaviaListener,
  id: string | null,
  pools: ReadonlyMap<string, OctaviaPool>,
): void {
  if (id === null) return
  if (protocol === 'PROMETHEUS') throw noChildren(protocol)
  const pool = pools.get(id)
  if (pool === undefined) throw notFound('Pool', id)
  // Octavia has no name for the protocol inside TLS that is passed on.
  const allowed = POOLS_OF_LISTENER[model.protocol === 'tls' ? 'HTTPS' : protocol]
  if (!allowed.includes(pool.protocol))
    throw validationFailure(
      `The pool protocol '${pool.protocol}' is invalid while the listener protocol is '${protocol}'.`,
    )
}

/** Octavia's message (`ListenerNoChildren`). */
const noChildren = (protocol: string): OctaviaFault =>
  new OctaviaFault(400, `Protocol ${protocol} listeners cannot have child objects.`)

const isV6 = (text: string): boolean => text.includes(':')

function checkAllowedCidrs({ model }: OctaviaListener, vips: readonly string[]): void {
  for (const cidr of model.allowedCidrs ?? [])
    if (!vips.some((vip) => isV6(vip) === isV6(cidr)))
      throw validationFailure(
        `CIDR ${cidr} IP version incompatible with all VIPs [${vips.map((vip) => `'${vip}'`).join(', ')}] IP version.`,
      )
}

/**
 * Refuses a new or different list of allowed networks on a load balancer with security groups, as in Octavia: the
 * groups say who may connect. A list from before the groups stays; clients must then satisfy both.
 * @param before the listeners before the change
 */
export function refuseAllowedCidrs(
  listeners: readonly OctaviaListener[],
  before: readonly OctaviaListener[] = [],
): void {
  const known = new Map(before.map(({ model }) => [model.id, model.allowedCidrs?.join()]))
  for (const { model } of listeners)
    if ((model.allowedCidrs ?? []).length > 0 && model.allowedCidrs?.join() !== known.get(model.id))
      throw validationFailure('Allowed CIDRs are not allowed when using custom VIP Security Groups.')
}

function checkMonitor({ protocol, monitor }: OctaviaPool): void {
  if (monitor === null) return
  if (protocol === 'UDP' || protocol === 'SCTP') {
    if (!['UDP-CONNECT', 'SCTP', 'TCP', 'HTTP'].includes(monitor.type))
      throw validationFailure(
        `The associated pool protocol is ${protocol}, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.`,
      )
    if (protocol === 'SCTP' && monitor.type === 'UDP-CONNECT')
      throw unsupportedOption('type UDP-CONNECT: members of SCTP pools are probed by SCTP, TCP or HTTP here')
    if (protocol === 'UDP' && monitor.type === 'SCTP')
      throw unsupportedOption('type SCTP: members of UDP pools are probed by UDP-CONNECT, TCP or HTTP here')
  } else if (monitor.type === 'UDP-CONNECT' || monitor.type === 'SCTP')
    throw validationFailure(`The ${monitor.type} type is only supported for pools of type UDP/SCTP.`)
}
