import {
  type AddressRequest,
  contentOf,
  endpointMembers,
  type LoadBalancerContent,
  listenersOf,
  ownerAnnotation,
  type Refusal,
  sorted,
  type Unreachable,
  uidOf,
  unreachableFamilies,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import { type LoadBalancer, MOST_DNS_NAMES } from '@spout/model'
import { type Cidr, parseIp } from '@spout/net'
import type { PortKey } from '../names.ts'
import { ADDRESS_FIELDS, familiesOf } from '../to-model/address-request.ts'
import { draftOf, groupContent, type IpMode, type ServiceDraft, type Surroundings } from '../to-model/draft.ts'
import {
  EXTERNAL_ANNOTATION,
  type ExternalIpRequest,
  externalAddresses,
  externalIpsOf,
  ownAddresses,
} from '../to-model/external-ips.ts'
import { modeOf } from '../to-model/mode.ts'
import { type BalancedPort, portsOf, portTaken } from '../to-model/ports.ts'
import { servicesOf } from '../to-model/services-of.ts'
import { type AddressGroup, type HeldGroup, partition } from '../to-model/sharing.ts'
import type { ShownPort } from '../write-back/ingress.ts'

/** What is to be written for one unit. */
export interface UnitPlan {
  readonly groups: readonly PlannedGroup[]
  /** Services that must not be balanced or ask for something impossible. What they had before stays. */
  readonly refused: readonly RefusedService[]
}

interface RefusedService {
  readonly service: Service
  readonly refusal: Refusal
}

/** Adds the DNS names that the document has: those of refused Services stay. */
function withNamesOf(content: LoadBalancerContent, document: LoadBalancer | null): LoadBalancerContent {
  const names = [...new Set([...(content.dnsNames ?? []), ...(document?.dnsNames ?? [])])].slice(0, MOST_DNS_NAMES)
  return names.length === 0 ? content : { ...content, dnsNames: names }
}

export interface PlannedGroup {
  readonly heldBy: string | null
  readonly request: AddressRequest
  readonly content: LoadBalancerContent
  /** The external addresses that Services of the group request in addition to their own. */
  readonly externals: readonly string[]
  readonly services: readonly PlannedService[]
}

export interface PlannedService {
  readonly service: Service
  readonly request: AddressRequest
  /** Requested families whose members no network can hold. */
  readonly unreachable: Unreachable
  readonly ports: readonly ShownPort[]
  readonly ipMode: IpMode
  readonly notice: Refusal | null
  readonly externals: ExternalIpRequest
}

export interface UnitInput {
  readonly services: readonly Service[]
  /** Load balancers that only Services of this unit use. */
  readonly documents: readonly LoadBalancer[]
  readonly cluster: string
  /** Why a Service must not be balanced, whatever its spec says. Left out: all may be. */
  readonly barred?: (service: Service) => Refusal | null
  /** The ranges that `externalIPs` may be taken from. Left out: the field is ignored. */
  readonly externalRanges?: readonly Cidr[]
  readonly surroundings: (service: Service) => Surroundings
}

/** Computes the plan of a unit. Pure. */
export function planUnit(input: UnitInput): UnitPlan {
  const { services, documents, barred, surroundings } = input
  const drafts = new Map<string, ServiceDraft>()
  const refused: RefusedService[] = []
  for (const service of services) {
    const bar = barred?.(service) ?? null
    const draft = bar === null ? draftOf(service, surroundings(service)) : { refusal: bar }
    if ('refusal' in draft) refused.push({ service, refusal: draft.refusal })
    else drafts.set(uidOf(service), draft.value)
  }
  const sharers = [...drafts.values()].map(({ service, request, ports }) => ({
    service,
    request,
    ports: ports.flatMap(({ port, parts }) => (parts === null ? [] : [port.key])),
  }))
  const byId = new Map(documents.map((document) => [document.id, document]))
  const groups = partition(sharers, documents.map(heldGroup)).map((group) => {
    const document = group.heldBy === null ? null : (byId.get(group.heldBy) ?? null)
    return plannedGroup(input, group, document, drafts, refused)
  })
  const planned = new Set(groups.map(({ heldBy }) => heldBy))
  const alone = documents.filter(({ id }) => !planned.has(id))
  return { groups: [...groups, ...alone.map((document) => groupOfRefused(input, document, refused))], refused }
}

/** The refused Services that a document names as its owners. */
const refusedIn = (document: LoadBalancer, refused: readonly RefusedService[]): readonly Service[] =>
  refused.flatMap(({ service }) => (servicesOf(document).has(uidOf(service)) ? [service] : []))

/** The plan for Services on one address. Refused Services that have a part of its load balancer keep that part. */
function plannedGroup(
  { cluster, externalRanges = [], surroundings }: UnitInput,
  group: AddressGroup,
  document: LoadBalancer | null,
  drafts: ReadonlyMap<string, ServiceDraft>,
  refused: readonly RefusedService[],
): PlannedGroup {
  const members = group.members.map(({ service, taken }) => ({ draft: drafts.get(uidOf(service))!, taken }))
  const unseen = members.flatMap(({ draft: { service } }) =>
    document !== null && areUnseen(service, surroundings(service)) ? [service] : [],
  )
  const content = unseen.reduce(
    (whole, service) => withMembersOf(whole, document!, service),
    groupContent(
      members.map(({ draft, taken }) => ({ draft, taken: new Set(taken.keys()) })),
      cluster,
    ),
  )
  const kept = document === null ? [] : refusedIn(document, refused)
  const own = members.map(({ draft }) => draft.service)
  const externals = externalsOf([...own, ...kept], group.request, document, externalRanges)
  const whole = kept.reduce((so, service) => withKept(so, document!, service, surroundings(service)), content)
  return {
    heldBy: group.heldBy,
    request: group.request,
    content: withExternals(kept.length === 0 ? whole : withNamesOf(whole, document), document, externals),
    externals,
    services: members.map(({ draft, taken }) => ({
      service: draft.service,
      request: draft.request,
      unreachable: draft.unreachable,
      ports: draft.ports.map(({ port }) => shownPort(draft.service, port, taken)),
      ipMode: draft.ipMode,
      notice: draft.notice,
      externals: externalIpsOf(draft.service, externalRanges),
    })),
  }
}

/** The plan for a load balancer whose Services are all refused. It stays as it is, except that it follows endpoints. */
function groupOfRefused(
  { services, surroundings }: UnitInput,
  document: LoadBalancer,
  refused: readonly RefusedService[],
): PlannedGroup {
  const living = new Set(services.map((service) => ownerAnnotation('service', uidOf(service))))
  const leaves = (annotation: string): boolean =>
    annotation.startsWith(ownerAnnotation('service', '')) && !living.has(annotation)
  const whole = contentOf(document)
  // Services that no longer use the address are not named any more.
  const annotations = Object.fromEntries(Object.entries(whole.annotations).filter(([name]) => !leaves(name)))
  return {
    heldBy: document.id,
    request: { families: [], pools: null },
    content: refusedIn(document, refused).reduce<LoadBalancerContent>(
      (so, service) => withKept(so, document, service, surroundings(service)),
      { ...whole, annotations, pools: [], listeners: [] },
    ),
    externals: [],
    services: [],
  }
}

/** The external addresses that the Services request and that are not an own address of the load balancer. */
function externalsOf(
  services: readonly Service[],
  request: AddressRequest,
  document: LoadBalancer | null,
  ranges: readonly Cidr[],
): readonly string[] {
  const own = new Set([
    ...(document === null ? [] : ownAddresses(document)),
    ...request.families.flatMap(({ address }) => address ?? []),
  ])
  const wanted = new Set(services.flatMap((service) => externalIpsOf(service, ranges).wanted))
  return [...wanted].filter((address) => !own.has(address)).sort()
}

/**
 * Notes the external addresses in an annotation. Old ones stay noted until removed, so that an interrupted change can
 * be completed.
 */
function withExternals(
  content: LoadBalancerContent,
  document: LoadBalancer | null,
  externals: readonly string[],
): LoadBalancerContent {
  const noted = [...new Set([...externals, ...(document === null ? [] : externalAddresses(document))])].sort()
  if (noted.length === 0) return content
  return { ...content, annotations: sorted({ ...content.annotations, [EXTERNAL_ANNOTATION]: noted.join(',') }) }
}

function shownPort(service: Service, port: BalancedPort, taken: ReadonlyMap<PortKey, Service>): ShownPort {
  const holder = taken.get(port.key)
  const error = port.error ?? (holder === undefined ? null : portTaken(service, holder))
  return { port, error: error?.error ?? null, message: error?.message ?? null }
}

/**
 * Whether the EndpointSlices of a Service were not seen yet. A Service with a selector always has one, though it
 * may be empty. After a restore of the API server, the watch may show Services before their slices.
 */
function areUnseen(service: Service, { slices, mode: configured }: Surroundings): boolean {
  const mode = modeOf(service, configured)
  const direct = 'refusal' in mode ? configured === 'direct' : mode.value === 'direct'
  return direct && slices.length === 0 && Object.keys(service.spec.selector ?? {}).length > 0
}

/** Takes the members of a Service's pools from the document, since its EndpointSlices were not seen yet. */
function withMembersOf(whole: LoadBalancerContent, document: LoadBalancer, service: Service): LoadBalancerContent {
  const before = new Map(contentOf(document).pools.map(({ name, members }) => [name, members]))
  const own = (name: string): boolean => name.startsWith(`${uidOf(service)}/`)
  const pools = whole.pools.map((pool) =>
    own(pool.name) ? { ...pool, members: before.get(pool.name) ?? pool.members } : pool,
  )
  return { ...whole, pools }
}

/**
 * Keeps what a refused Service had: its listeners stay, and its members follow the endpoints. A mistake in an
 * annotation must not stop what works.
 */
function withKept(
  whole: LoadBalancerContent,
  document: LoadBalancer,
  service: Service,
  around: Surroundings,
): LoadBalancerContent {
  const { slices, mode, networks = [] } = around
  const before = contentOf(document)
  const prefix = `${uidOf(service)}/`
  const ports = portsOf(service, mode, new Set(['tcp', 'udp', 'sctp']))
  const pools = before.pools
    .filter(({ name }) => name.startsWith(prefix))
    .map((pool) => {
      const port = ports.find(({ key }) => `${prefix}${key}` === pool.name)
      if (mode !== 'direct' || port === undefined || areUnseen(service, around)) return pool
      const monitorPort = pool.members[0]?.monitorPort ?? null
      const unreachable = unreachableFamilies(familiesOf(service), networks, ADDRESS_FIELDS.families)
      const families = familiesOf(service).filter((family) => !unreachable.has(family))
      const { protocol } = pool
      const { members } = endpointMembers(slices, port, { families, preferZone: null, protocol })
      return { ...pool, members: members.map((member) => ({ ...member, monitorPort })) }
    })
  const annotation = Object.entries(before.annotations).filter(([name]) => name.endsWith(uidOf(service)))
  return {
    ...whole,
    annotations: { ...whole.annotations, ...Object.fromEntries(annotation) },
    pools: [...whole.pools, ...pools],
    listeners: [...whole.listeners, ...before.listeners.filter(({ defaultPool }) => defaultPool.startsWith(prefix))],
  }
}

/**
 * Reads from a document which Service has which port, and which addresses it has. The names of pools tell both. A
 * listener's protocol also says how its port is carried (`tls`, `tcp-proxy`).
 */
export function heldGroup(document: LoadBalancer): HeldGroup {
  const listeners = listenersOf(document)
  return {
    id: document.id,
    addresses: new Map(ownAddresses(document).map((address) => [parseIp(address).version, address])),
    ports: new Map(
      listeners.map(({ defaultPool }) => {
        const end = defaultPool.indexOf('/')
        return [defaultPool.slice(end + 1) as PortKey, defaultPool.slice(0, end)]
      }),
    ),
    services: new Set(servicesOf(document).keys()),
  }
}
