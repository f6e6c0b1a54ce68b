import {
  type AddressRequest,
  type AskedNames,
  type CertificateSight,
  CLASS_ANNOTATION,
  CLUSTER_ANNOTATION,
  type EligibleNode,
  endpointMembers,
  endpointsLeftOut,
  type KnownNetwork,
  keyOf,
  type ListenerContent,
  type LoadBalancerContent,
  leftOutFamily,
  leftOutSlice,
  type MemberContent,
  namedClass,
  namesOfAll,
  nodeMembers,
  type OrRefusal,
  ownerAnnotation,
  type PoolContent,
  type Refusal,
  refuse,
  sorted,
  type Unreachable,
  uidOf,
  unreachableFamilies,
} from '@spout/connector'
import type { EndpointSlice, LoadBalancerIngress, Service } from '@spout/kube'
import { LISTENER_PROTOCOLS, listenerTls } from '@spout/model'
import type { PortKey } from '../names.ts'
import { ADDRESS_FIELDS, addressRequestOf } from './address-request.ts'
import { persistenceOf } from './affinity.ts'
import { annotation, durationAnnotation } from './annotations.ts'
import { dnsNamesOf } from './dns-names.ts'
import { isLocal, type Mode, modeOf } from './mode.ts'
import { monitorOf } from './monitor.ts'
import { type BalancedPort, type PortError, portsOf } from './ports.ts'
import { protocolsOf, proxyVersionOf, withoutProxyProtocol } from './proxy-protocol.ts'
import { unitOf } from './sharing.ts'
import { sourceRangesOf } from './source-ranges.ts'
import { tlsOf } from './tls.ts'
import { unknownAnnotation } from './unknown-annotation.ts'

/** What the conversion of a Service needs besides the Service. */
export interface Surroundings {
  /** The EndpointSlices of the Service. */
  readonly slices: readonly EndpointSlice[]
  readonly nodes: readonly EligibleNode[]
  /** The default way to reach workloads. */
  readonly mode: Mode
  /** Our value of `spec.loadBalancerClass`. Left out: no Service can name a load balancer class. */
  readonly className?: string
  /** The project's networks; left out: unknown. */
  readonly networks?: readonly KnownNetwork[]
  /** The certificate of a Secret, by the Secret's key. Left out: no Secret can be read. */
  readonly certificateOf?: (key: string) => CertificateSight
}

/** One Service, converted to parts of a load balancer. */
export interface ServiceDraft {
  readonly service: Service
  readonly request: AddressRequest
  /** Requested families whose members no network can hold. */
  readonly unreachable: Unreachable
  readonly ports: readonly DraftedPort[]
  readonly ipMode: IpMode
  readonly names: AskedNames
  /** What the user should know of a Service that is accepted, such as that no node can take its traffic. */
  readonly notice: Refusal | null
}

/**
 * `VIP`: endpoints get what clients send, so kube-proxy may send its pods there directly. `Proxy`: the load balancer ends
 * TLS, or adds a PROXY header, so pods must come through it, too (KEP-1860). It is one for all ports of a Service.
 */
export type IpMode = NonNullable<LoadBalancerIngress['ipMode']>

export interface DraftedPort {
  readonly port: BalancedPort
  /** The listener and pool of the port; null when it cannot be served. */
  readonly parts: { readonly listener: ListenerContent; readonly pool: PoolContent } | null
}

const TRANSPORTS: ReadonlySet<string> = new Set(LISTENER_PROTOCOLS)
const DEFAULT_PANIC_PERCENT = 10
/** With more nodes than this, a single node that has endpoints would be less than one percent of all. */
const MOST_NODES_OF_ONE_PERCENT = 100
const DEFAULT_DRAIN_S = 300
const LONGEST_NAME = 255

/** Converts a Service. Equal input gives equal output, byte for byte. Does not throw, whatever the Service contains. */
export function draftOf(
  service: Service,
  { slices, nodes, mode: configured, className, networks = [], certificateOf = unreadable }: Surroundings,
): OrRefusal<ServiceDraft> {
  const unit = unitOf(service)
  if ('refusal' in unit) return unit
  const mode = modeOf(service, configured)
  if ('refusal' in mode) return mode
  const request = addressRequestOf(service)
  if ('refusal' in request) return request
  const allowed = sourceRangesOf(service)
  if ('refusal' in allowed) return allowed
  const zone = annotation(service, 'preferZone')
  if ('refusal' in zone) return zone
  const drain = durationAnnotation(service, 'drain', { leastMs: 0, mostMs: 86_400_000 })
  if ('refusal' in drain) return drain
  const proxy = proxyVersionOf(service)
  if ('refusal' in proxy) return proxy
  const ports = portsOf(service, mode.value, TRANSPORTS)
  if (ports.length === 0) return refuse('NoPorts', 'spec.ports', 'It has no ports.')
  const tls = tlsOf(service, ports, certificateOf)
  if ('refusal' in tls) return tls
  const named = className === undefined ? undefined : namedClass(service.spec.loadBalancerClass, className)
  const wanted = request.value.families.map(({ family }) => family)
  const unreachable = unreachableFamilies(wanted, networks, ADDRESS_FIELDS.families)
  const families = wanted.filter((family) => !unreachable.has(family))
  const drafted: DraftedPort[] = []
  let leftOut: Refusal | null = null
  for (const port of ports) {
    if (port.error !== null) {
      drafted.push({ port, parts: null })
      continue
    }
    const monitor = monitorOf(service, port, mode.value)
    if ('refusal' in monitor) return monitor
    const endsTls = tls.value?.endsTls(port) ?? false
    const protocols = protocolsOf(port, proxy.value, endsTls)
    const monitorPort = monitor.value?.port ?? null
    const found =
      mode.value === 'direct'
        ? endpointMembers(slices, port, { families, preferZone: zone.value, protocol: protocols.pool })
        : null
    const members: readonly MemberContent[] =
      found === null
        ? nodeMembers(nodes, families, port.nodePort ?? 0, monitorPort)
        : found.members.map((one) => ({ ...one, monitorPort }))
    leftOut ??= endpointsLeftOut(found?.leftOut ?? 0, port.key, protocols.pool, 'endpoints')
    const listener = {
      ...listenerOf(service, port, protocols.listener, allowed.value),
      // No ALPN protocol is offered, since we do not know which one the members speak.
      ...(endsTls && { tls: listenerTls.parse({ certificateIds: [tls.value?.certificateId], alpn: [] }) }),
    }
    const pool: PoolContent = {
      name: poolNameOf(service, port),
      protocol: protocols.pool,
      persistence: persistenceOf(service),
      panicThreshold: panicPercent(mode.value === 'node-ports' && isLocal(service), members.length),
      // A UDP client does not notice that its endpoint is gone, so its next packet must go to another endpoint.
      drainSeconds: port.transport === 'udp' ? 0 : drainSeconds(drain.value),
      members,
      monitor: monitor.value === null ? null : withoutPort(monitor.value),
    }
    drafted.push({ port, parts: { listener, pool } })
  }
  if (drafted.every(({ parts }) => parts === null))
    return refuse('NoServablePort', 'spec.ports', drafted.map(({ port }) => portMessage(port, port.error)).join('; '))
  const names = dnsNamesOf(service)
  return {
    value: {
      service,
      names,
      request: { ...request.value, ...(named === undefined ? {} : { loadBalancerClass: named }) },
      unreachable,
      ports: drafted,
      ipMode: drafted.some(isCarriedByProxy) ? 'Proxy' : 'VIP',
      notice:
        noticeOf(mode.value, nodes) ??
        leftOutFamily(request.value, unreachable) ??
        leftOutSlice(slices) ??
        leftOut ??
        withoutProxyProtocol(ports, proxy.value) ??
        tls.value?.notice ??
        names.notice ??
        unknownAnnotation(service),
    },
  }
}

const isCarriedByProxy = ({ port, parts }: DraftedPort): boolean =>
  parts !== null && parts.listener.protocol !== port.transport

const poolNameOf = (service: Service, { key }: BalancedPort): string => `${uidOf(service)}/${key}`

const listenerOf = (
  service: Service,
  port: BalancedPort,
  protocol: ListenerContent['protocol'],
  allowedCidrs: ListenerContent['allowedCidrs'],
): ListenerContent => ({
  ...{ name: nameOf(service, port), protocol, port: port.port, defaultPool: poolNameOf(service, port), allowedCidrs },
})

const unreadable = (): CertificateSight => ({
  type: 'refused',
  refusal: { reason: 'SecretUnreadable', field: 'Secret', message: 'No Secret can be read here.' },
})

/**
 * With policy Local few nodes have endpoints, so most nodes fail the check without a fault. If all fail, their
 * kube-proxies have probably not opened `healthCheckNodePort` yet: until then all nodes are used.
 */
const panicPercent = (fewAnswer: boolean, nodes: number): number =>
  !fewAnswer ? DEFAULT_PANIC_PERCENT : nodes <= MOST_NODES_OF_ONE_PERCENT ? 1 : 0

const drainSeconds = (ms: number | null): number => (ms === null ? DEFAULT_DRAIN_S : Math.ceil(ms / 1000))

const withoutPort = ({ port: _, ...monitor }: { readonly port: number | null } & NonNullable<PoolContent['monitor']>) =>
  monitor

const nameOf = (service: Service, { key, name }: BalancedPort): string =>
  `${keyOf(service)}:${name === '' ? key : name}`.slice(0, LONGEST_NAME)

/** `tcp/80: it has no node port, ...`. */
export const portMessage = ({ key }: BalancedPort, error: PortError | null): string =>
  `${key}: ${error?.message ?? 'ok'}`

const noticeOf = (mode: Mode, nodes: readonly EligibleNode[]): Refusal | null =>
  mode === 'node-ports' && nodes.length === 0
    ? {
        reason: 'NoEligibleNodes',
        field: 'nodes',
        message: 'No node of the cluster may take traffic; the address is kept.',
      }
    : null

export interface MemberDraftOfGroup {
  readonly draft: ServiceDraft
  /** The requested ports that other Services have on the shared address. */
  readonly taken: ReadonlySet<PortKey>
}

/** Merges the Services of one address into one document. */
export function groupContent(members: readonly MemberDraftOfGroup[], cluster: string): LoadBalancerContent {
  const ordered = [...members].sort((a, b) => (ageOf(a.draft) < ageOf(b.draft) ? -1 : 1))
  const parts = ordered.flatMap(({ draft, taken }) =>
    draft.ports.flatMap((drafted) => (drafted.parts === null || taken.has(drafted.port.key) ? [] : [drafted.parts])),
  )
  const named = ordered[0]?.draft.request.loadBalancerClass
  const services = ordered.map(({ draft: { service } }) => [ownerAnnotation('service', uidOf(service)), keyOf(service)])
  return {
    name: (ordered[0] === undefined ? '' : keyOf(ordered[0].draft.service)).slice(0, LONGEST_NAME),
    annotations: sorted({
      [CLUSTER_ANNOTATION]: cluster,
      ...(named === undefined ? {} : { [CLASS_ANNOTATION]: named }),
      ...Object.fromEntries(services),
    }),
    pools: parts.map(({ pool }) => pool),
    listeners: parts.map(({ listener }) => listener),
    ...namesOfAll(ordered.map(({ draft }) => draft.names)),
  }
}

const ageOf = ({ service }: ServiceDraft): string => `${service.metadata.creationTimestamp ?? ''} ${uidOf(service)}`
