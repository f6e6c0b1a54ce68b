import type { LoadBalancer, Service } from '@spout/model'
import type { AccessLog } from '@spout/model/access-log'
import { admittedSources } from './admitted-sources.ts'
import type { LoadBalancerPlanInput } from './load-balancer-plan.ts'
import { planRoutes } from './node-routes.ts'
import { type CertificateOf, planSyslog, planTls } from './node-tls.ts'

/** Facts outside of the listener that its service depends on. */
export type ListenerSurroundings = Pick<
  LoadBalancerPlanInput,
  'certificateOf' | 'connectionLimit' | 'nodeRoutes' | 'entryBefore' | 'securityRules'
>

/**
 * Plans the service of a listener. Empty if the listener cannot be served, because certificates that it needs were
 * deleted.
 * @param numbers of the enabled pools, by pool id
 */
export function planService(
  listener: LoadBalancer['listeners'][number],
  projectId: string,
  numbers: ReadonlyMap<string, number>,
  { certificateOf, connectionLimit: limit, nodeRoutes, entryBefore, securityRules = null }: ListenerSurroundings,
): readonly Service[] {
  const tls = planTls(listener, certificateOf)
  if (tls === null) return []
  const { clientMs, connectMs, memberMs, inspectMs } = listener.timeouts
  const inspected = listener.protocol === 'tls-passthrough' && inspectMs > 0
  const routesBefore = entryBefore?.services.find(({ id }) => id === listener.id)?.routes
  return [
    {
      id: listener.id,
      protocol: listener.protocol,
      port: listener.port,
      pool: listener.defaultPoolId === null ? null : (numbers.get(listener.defaultPoolId) ?? null),
      connectionLimit: limit === null ? listener.connectionLimit : Math.min(listener.connectionLimit ?? limit, limit),
      allowedCidrs: admittedSources(listener, securityRules),
      timeouts: { clientMs, connectMs, memberMs, ...(inspected ? { inspectMs } : {}) },
      insertHeaders: listener.insertHeaders,
      ...planRoutes(listener.routes, numbers, routesBefore, nodeRoutes, certificateOf),
      ...tls,
      ...(listener.latencies ? { latencies: true as const } : {}),
      ...(listener.routeFigures ? { routeFigures: true as const } : {}),
      ...(listener.accessLog ? accessLogOf(listener.accessLog, projectId, certificateOf) : {}),
    },
  ]
}

function accessLogOf(
  { format, syslog }: AccessLog,
  projectId: string,
  certificateOf: CertificateOf,
): Pick<Service, 'accessLog'> {
  if (syslog === null) return { accessLog: { format, projectId } }
  const planned = planSyslog(syslog, certificateOf)
  return planned === null ? {} : { accessLog: { format, projectId, syslog: planned } }
}
