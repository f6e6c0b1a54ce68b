import { type NodeDifference, sameJson } from '@spout/model'
import type { LoadBalancerEntry, NodePool, Service, ServiceTls } from '@spout/model/node-state'
import { isBehind, isProxied, readsRequests } from '@spout/model/protocols'
import { poolNumbersOf } from './used-pools.ts'

/**
 * Whether a node's proxy takes a change while it runs. A setting that is part of the proxy's configuration, and that
 * nothing of the load balancer had before, may need a new process, if the node has not prepared it.
 */
export function proxyDifference(
  before: LoadBalancerEntry | null,
  after: LoadBalancerEntry | null,
): NodeDifference['proxy'] {
  const [was, is] = [proxiedPart(before), proxiedPart(after)]
  if (sameJson(was, is)) return 'unchanged'
  if (!sameJson(before?.dedicatedProxy, after?.dedicatedProxy) && is.services.length > 0) return 'may-restart'
  const known = new Set(configuredIn(was))
  return configuredIn(is).every((settings) => known.has(settings)) ? 'run-time' : 'may-restart'
}

interface ProxiedPart {
  readonly services: readonly Service[]
  readonly pools: readonly NodePool[]
  readonly requestSizes: LoadBalancerEntry['requestSizes']
}

function proxiedPart(entry: LoadBalancerEntry | null): ProxiedPart {
  const services = entry?.services.filter(({ protocol }) => isProxied(protocol)) ?? []
  const pools = entry?.pools.filter(({ mode }) => mode !== 'l4') ?? []
  return services.length === 0
    ? { services, pools: [], requestSizes: undefined }
    : { services, pools, requestSizes: entry?.requestSizes }
}

/** The settings of listeners, and of their pools, that a running proxy cannot change. */
function configuredIn({ services, pools, requestSizes }: ProxiedPart): readonly string[] {
  const byNumber = new Map(pools.map((pool) => [pool.number, pool]))
  return services.flatMap((service) => [
    JSON.stringify([
      ...['listener', service.protocol, service.timeouts.clientMs, service.timeouts.inspectMs, service.insertHeaders],
      ...[service.tls && configuredTls(service.tls), requestSizes, isBehind(service, services)],
    ]),
    ...[...poolNumbersOf([service])].flatMap((number) => {
      const pool = byNumber.get(number)
      return pool === undefined ? [] : [configuredPool(pool, service)]
    }),
  ])
}

/** A pool under a listener. */
const configuredPool = (
  { algorithm, sourceAffinity, keepSeconds, session }: NodePool,
  { protocol, timeouts: { connectMs, memberMs } }: Service,
): string =>
  JSON.stringify([
    ...['pool', readsRequests(protocol), connectMs, memberMs, algorithm],
    ...[sourceAffinity, keepSeconds, session],
  ])

/** Certificates, lists of authorities and HSTS are changed while the proxy runs. */
const configuredTls = ({ minVersion, ciphers, alpn, unknownNames, clients, separateHosts }: ServiceTls) => [
  ...[minVersion, ciphers, alpn, unknownNames],
  clients && [clients.required, clients.acceptInvalid, clients.revocations !== undefined],
  separateHosts !== undefined,
]
