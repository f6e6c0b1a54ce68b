import {
  backendPort,
  type EndpointMembers,
  endpointMembers,
  type Family,
  type MemberDraft,
  type OrRefusal,
  type Refusal,
  refuse,
  shown,
  type TargetPort,
} from '@spout/connector'
import type { LoadBalancerPool, MemberSource } from '@spout/custom-resources'
import type { EndpointSlice, Protocol, Service } from '@spout/kube'

/** Where endpoints are looked up. Keys are `namespace/name`. */
export interface Endpoints {
  readonly service: (key: string) => Service | undefined
  readonly services: (namespace: string) => Iterable<Service>
  readonly slicesOf: (serviceKey: string) => readonly EndpointSlice[]
  readonly slice: (key: string) => EndpointSlice | undefined
  /** The address families that the project's networks offer to members. */
  readonly families: readonly Family[]
}

export interface FoundMembers {
  readonly members: readonly MemberDraft[]
  /** How many endpoints the pool has no room for. */
  readonly leftOut: number
  /** The objects that the result depends on: `service namespace/name`, `services namespace`, `slice namespace/name`. */
  readonly dependencies: readonly string[]
  readonly problems: readonly Refusal[]
}

type PoolProtocol = LoadBalancerPool['protocol']
type PortReference = NonNullable<MemberSource['service']>['port']

/** Looks up the members of one source. A missing source has none, and is reported as a problem. */
export function membersOf(
  source: MemberSource,
  { protocol }: Pick<LoadBalancerPool, 'protocol'>,
  namespace: string,
  field: string,
  around: Endpoints,
): FoundMembers {
  const named = [source.service, source.services, source.endpointSlice].filter((one) => one !== undefined)
  if (named.length !== 1)
    return failed(
      [],
      refuse('InvalidSource', field, 'It must name exactly one of service, services and endpointSlice.').refusal,
    )
  if (source.endpointSlice !== undefined) return ofSlice(source.endpointSlice, protocol, namespace, field, around)
  if (source.service !== undefined) {
    const key = `${namespace}/${source.service.name}`
    return ofService(key, around.service(key), source.service.port, protocol, `${field}.service`, around)
  }
  const { matchLabels = {}, port = 0 } = source.services ?? {}
  const all = [...around.services(namespace)].filter(({ metadata: { labels = {} } }) =>
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value),
  )
  const found = all
    .map((service) => `${namespace}/${service.metadata.name}`)
    .sort()
    .map((key) => ofService(key, around.service(key), port, protocol, `${field}.services`, around))
  return {
    members: found.flatMap(({ members }) => members),
    leftOut: found.reduce((sum, { leftOut }) => sum + leftOut, 0),
    dependencies: [`services ${namespace}`, ...found.flatMap(({ dependencies }) => dependencies)],
    problems: found.flatMap(({ problems }) => problems),
  }
}

function ofService(
  key: string,
  service: Service | undefined,
  reference: PortReference,
  protocol: PoolProtocol,
  field: string,
  around: Endpoints,
): FoundMembers {
  const dependencies = [`service ${key}`]
  const transport = transportOf(protocol)
  const port = backendPort(service, key, { ...portReference(reference), transport }, field)
  if ('refusal' in port) return failed(dependencies, port.refusal)
  return { ...endpoints(around.slicesOf(key), port.value, protocol, around), dependencies, problems: [] }
}

function ofSlice(
  { name, port }: NonNullable<MemberSource['endpointSlice']>,
  protocol: PoolProtocol,
  namespace: string,
  field: string,
  around: Endpoints,
): FoundMembers {
  const key = `${namespace}/${name}`
  const dependencies = [`slice ${key}`]
  const slice = around.slice(key)
  if (slice === undefined)
    return failed(dependencies, {
      reason: 'EndpointSliceNotFound',
      field: `${field}.endpointSlice`,
      message: `There is no EndpointSlice ${shown(key)}.`,
    })
  const target = slicePort(slice, key, port, transportOf(protocol), `${field}.endpointSlice.port`)
  if ('refusal' in target) return failed(dependencies, target.refusal)
  return { ...endpoints([slice], target.value, protocol, around), dependencies, problems: [] }
}

function slicePort(
  slice: EndpointSlice,
  key: string,
  reference: PortReference,
  transport: Protocol,
  field: string,
): OrRefusal<TargetPort> {
  const found = (slice.ports ?? []).find(
    ({ name = '', port, protocol = 'TCP' }) =>
      protocol === transport && (typeof reference === 'string' ? name === reference : port === reference),
  )
  if (found?.port == null)
    return refuse(
      'EndpointSlicePortNotFound',
      field,
      `EndpointSlice ${shown(key)} has no ${transport} port ${shown(String(reference))}.`,
    )
  return { value: { name: found.name ?? '', protocol: transport, port: found.port, targetPort: found.port } }
}

const endpoints = (
  slices: readonly EndpointSlice[],
  port: TargetPort,
  protocol: PoolProtocol,
  { families }: Endpoints,
): EndpointMembers => endpointMembers(slices, port, { families, preferZone: null, protocol })

const failed = (dependencies: readonly string[], problem: Refusal): FoundMembers => ({
  members: [],
  leftOut: 0,
  dependencies,
  problems: [problem],
})

const portReference = (reference: PortReference) =>
  typeof reference === 'string' ? { name: reference } : { number: reference }

const transportOf = (protocol: PoolProtocol): Protocol =>
  protocol === 'udp' ? 'UDP' : protocol === 'sctp' ? 'SCTP' : 'TCP'
