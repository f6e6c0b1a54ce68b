import type { RequestSizes, Service, ServiceTls } from '@spout/model'
import { userListsOf } from '@spout/model/node-state'
import { endsTls, goesByServerName, isBehind, isProxied, listenerBehind, readsRequests } from '@spout/model/protocols'
import type { WantedEntry } from '../../../contracts/driver.ts'
import { ownProxyOf, type ProxyLimits } from '../place/proxy-place.ts'
import type { KnownRoutes } from '../routes/known-routes.ts'
import { type RenderedRoutes, renderRoutes } from '../routes/route-rows.ts'
import { clientHeaders } from '../sections/client-headers.ts'
import { FORWARDED, type FrontendShape, type ProxyMode, type SizeShape, type TlsShape } from '../sections/shape.ts'
import { checkedContentId, knownCiphers, knownProtocols, knownVersion } from '../sections/tls-values.ts'
import type { KnownBackends } from './known-backends.ts'
import { type RenderedBackend, renderBackend } from './render-backend.ts'
import { MOST_HEADER_BYTES } from './request-sizes.ts'
import type { FrontendCertificates } from './tls-content.ts'
import { LONGEST_MS, within } from './within.ts'

/**
 * The parts of the proxy that one load balancer needs, before slots are assigned. Contains only ids, numbers and
 * addresses.
 */
export interface RenderedEntry {
  readonly key: string
  readonly loadBalancerId: string
  readonly domain: number
  /** Limits of its own proxy. Absent: it shares its domain's proxy. */
  readonly dedicatedProxy?: ProxyLimits
  readonly frontends: readonly RenderedFrontend[]
  readonly backends: readonly RenderedBackend[]
  /** Content ids of the lists of users that its routes ask. Absent: none. */
  readonly users?: ReadonlySet<string>
}

export interface RenderedFrontend {
  /** The listener's id. */
  readonly service: string
  readonly shape: FrontendShape
  /** `RenderedBackend.owner`. Null answers 503 (HTTP) or closes the connection (TCP). */
  readonly backend: string | null
  /** Absent: it has none. */
  readonly routes?: RenderedRoutes
  /** The listener that gets connections which no route matches, in place of `backend`. Absent: no listener does. */
  readonly others?: string
  /** Certificates of a frontend that ends TLS. */
  readonly certificates?: FrontendCertificates
  /** The header `Strict-Transport-Security`, in base64. Absent: none is added. */
  readonly hsts?: string
  /** The listener whose load balancer's metrics this frontend serves. Absent: it serves none. */
  readonly metrics?: string
  /** The listener under which its requests are logged. Absent: they are not. */
  readonly logs?: string
  /** The hosts that it keeps apart, separated by commas. Absent: none. */
  readonly hosts?: string
}

/**
 * Renders what an entry needs of the proxy, without services that the proxy does not serve. Pure.
 * @param routesOf renders routes; it may know some
 * @param backendOfPool renders pools; it may know some
 * @throws RangeError, AddressSyntaxError for invalid values, which would break the configuration of other entries
 */
export function renderEntry(
  { entry, down }: Pick<WantedEntry, 'entry' | 'down'>,
  routesOf: KnownRoutes['render'] = (routes, backendOf, _, named) => renderRoutes(routes, backendOf, null, named),
  backendOfPool: KnownBackends['render'] = renderBackend,
): RenderedEntry {
  const pools = new Map(entry.pools.map((pool) => [pool.number, pool]))
  const backends = new Map<string, RenderedBackend>()
  const frontends = entry.services
    .filter(({ protocol }) => isProxied(protocol))
    .map((service): RenderedFrontend => {
      const mode = modeOf(service)
      const owners = new Map<number, string | null>()
      const backendOf = (number: number): string | null => {
        const known = owners.get(number)
        if (known !== undefined) return known
        const pool = pools.get(number)
        const backend = pool === undefined ? null : backendOfPool(pool, mode, service.timeouts, down)
        if (backend !== null && !backends.has(backend.owner)) backends.set(backend.owner, backend)
        owners.set(number, backend?.owner ?? null)
        return backend?.owner ?? null
      }
      return {
        service: service.id,
        shape: {
          mode,
          clientMs: within(0, service.timeouts.clientMs, LONGEST_MS),
          ...headersOf(service, mode),
          ...(service.tls === undefined ? {} : { tls: tlsShape(service.tls) }),
          ...(entry.requestSizes === undefined || !readsRequests(service.protocol)
            ? {}
            : { sizes: sizeShape(entry.requestSizes) }),
          ...(service.protocol === 'tls-passthrough'
            ? { helloMs: within(0, service.timeouts.inspectMs ?? 0, LONGEST_MS) }
            : {}),
          ...(isBehind(service, entry.services) ? { behind: true as const } : {}),
        },
        backend: service.pool === null ? null : backendOf(service.pool),
        ...(service.routes === undefined
          ? {}
          : { routes: routesOf(service.routes, backendOf, service.id, service.routeFigures === true) }),
        ...othersOf(service, entry.services),
        ...(service.tls === undefined ? {} : { certificates: certificatesOf(service.tls) }),
        ...(service.tls?.hsts === undefined ? {} : { hsts: hstsText(service.tls.hsts) }),
        ...(service.tls?.separateHosts === undefined ? {} : { hosts: hostsText(service.tls.separateHosts) }),
        ...(service.protocol === 'metrics' ? { metrics: checkedId(service.id) } : {}),
        ...(service.latencies || service.accessLog !== undefined ? { logs: checkedId(service.id) } : {}),
      }
    })
  return {
    ...{ key: entry.key, loadBalancerId: entry.id, domain: entry.domain, frontends },
    backends: [...backends.values()],
    ...ownProxyOf(entry),
    ...usersOf(entry.services),
  }
}

function othersOf(service: Service, all: readonly Service[]): Pick<RenderedFrontend, 'others'> {
  const behind = listenerBehind(service, all)
  return behind === undefined ? {} : { others: behind.id }
}

function usersOf(services: readonly Service[]): Pick<RenderedEntry, 'users'> {
  const users = new Set(userListsOf(services).map(({ contentId }) => checkedContentId(contentId)))
  return users.size === 0 ? {} : { users }
}

/** Whether a listener answers with figures. */
export const answersMetrics = ({ frontends }: RenderedEntry): boolean =>
  frontends.some(({ metrics }) => metrics !== undefined)

/** Whether requests or connections of a listener are logged. */
export const tellsRequests = ({ frontends }: RenderedEntry): boolean => frontends.some(({ logs }) => logs !== undefined)

/** The mode of the backend is the listener's: a pool with the PROXY protocol may carry HTTP. */
const modeOf = ({ protocol, tls }: Service): ProxyMode => {
  if (endsTls(protocol) !== (tls !== undefined))
    throw new RangeError(`a service of protocol ${protocol} ${tls === undefined ? 'needs certificates' : 'has none'}`)
  return protocol === 'tcp-proxy' || goesByServerName(protocol) ? 'tcp' : 'http'
}

/** The id of a listener is a value of a map, where a space or a newline would end it. */
function checkedId(id: string): string {
  if (/^[\w-]{1,64}$/.test(id)) return id
  throw new RangeError(`${JSON.stringify(id)} is not the id of a listener`)
}

/** RFC 6797, 6.1. Encoded, since `;` would end a command. */
function hstsText({ maxAgeSeconds, includeSubdomains, preload }: NonNullable<ServiceTls['hsts']>): string {
  const words = [
    `max-age=${within(0, maxAgeSeconds, LONGEST_MS)}`,
    ...(includeSubdomains ? ['includeSubDomains'] : []),
    ...(preload ? ['preload'] : []),
  ]
  return Buffer.from(words.join('; ')).toString('base64url')
}

/** A line of a map: longer ones are not read. */
const LONGEST_HOSTS = 8000

function hostsText(hosts: readonly string[]): string {
  const wrong = hosts.find((host) => !/^(\*\.)?[a-z0-9_.-]{1,253}$/.test(host))
  if (wrong !== undefined) throw new RangeError(`${JSON.stringify(wrong)} is not a host name`)
  const text = hosts.join()
  if (text.length > LONGEST_HOSTS) throw new RangeError(`${hosts.length} hosts are too many to keep apart`)
  return text
}

function headersOf({ insertHeaders }: Service, mode: ProxyMode): Pick<FrontendShape, 'forwarded' | 'told'> {
  if (mode !== 'http') return { forwarded: [] }
  const told = clientHeaders(insertHeaders)
  const forwarded = FORWARDED.filter((each) => insertHeaders.includes(`x-forwarded-${each}`))
  return { forwarded, ...(told.length > 0 ? { told } : {}) }
}

const sizeShape = ({ headerBytes, bodyBytes }: RequestSizes): SizeShape => ({
  ...(headerBytes === null ? {} : { headerBytes: within(1, headerBytes, MOST_HEADER_BYTES) }),
  ...(bodyBytes === null ? {} : { bodyBytes: within(1, bodyBytes, Number.MAX_SAFE_INTEGER) }),
})

const tlsShape = ({ minVersion, ciphers, alpn, unknownNames, clients, separateHosts }: ServiceTls): TlsShape => ({
  minVersion: knownVersion(minVersion),
  ...(ciphers === undefined ? {} : { ciphers: knownCiphers(ciphers) }),
  alpn: knownProtocols(alpn),
  unknownNames: unknownNames === 'refuse' ? 'refuse' : 'default',
  ...(clients === undefined ? {} : { clients: askedFor(clients) }),
  ...(clients?.revocations === undefined ? {} : { revocations: true }),
  ...(separateHosts === undefined ? {} : { separate: true }),
})

const askedFor = ({ acceptInvalid, required }: NonNullable<ServiceTls['clients']>): TlsShape['clients'] =>
  acceptInvalid ? 'any' : required ? 'required' : 'optional'

function certificatesOf({ certificates, unknownNames, clients }: ServiceTls): FrontendCertificates {
  const all = certificates.map(({ contentId }) => checkedContentId(contentId))
  const [first, ...others] = all
  if (first === undefined) throw new RangeError('a service that ends TLS has no certificate')
  return {
    ...(unknownNames === 'refuse' ? { fallback: null, named: all } : { fallback: first, named: others }),
    ...(clients === undefined ? {} : { authorities: checkedContentId(clients.authorities.contentId) }),
    ...(clients?.revocations === undefined ? {} : { revocations: checkedContentId(clients.revocations.contentId) }),
  }
}
