import { createHash } from 'node:crypto'
import type { NodePool, RequestSizes, Service, ServiceTls, SessionCookie } from '@spout/model'
import { userListsOf } from '@spout/model/node-state'
import { endsTls, goesByServerName, isBehind, isProxied, listenerBehind, readsRequests } from '@spout/model/protocols'
import { formatIp, parseIp } from '@spout/net'
import { effectiveMembers } from '@spout/plan/effective-members'
import type { WantedEntry } from '../../../contracts/driver.ts'
import { ownProxyOf, type ProxyLimits } from '../place/proxy-place.ts'
import type { KnownRoutes } from '../routes/known-routes.ts'
import { type RenderedRoutes, renderRoutes } from '../routes/route-rows.ts'
import { clientHeaders } from '../sections/client-headers.ts'
import {
  type BackendShape,
  type Balance,
  backendShapeKey,
  type CookieAttributes,
  FORWARDED,
  type FrontendShape,
  type ProxyMode,
  type SessionShape,
  type SizeShape,
  type TlsShape,
} from '../sections/shape.ts'
import { checkedContentId, knownCiphers, knownProtocols, knownVersion } from '../sections/tls-values.ts'
import { type MemberTls, memberTls } from './member-tls.ts'
import { MOST_HEADER_BYTES } from './request-sizes.ts'
import { serverIdentity, withUniqueIds } from './server-identity.ts'
import type { FrontendCertificates } from './tls-content.ts'

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

export interface RenderedBackend {
  /** Pool and shape: a pool with other time-outs, or another algorithm, is another backend. */
  readonly owner: string
  readonly shape: BackendShape
  readonly servers: readonly RenderedServer[]
  /** How the servers are spoken to with TLS. Absent: without. */
  readonly tls?: MemberTls
  /** The pool whose failures in traffic are counted, and its servers; absent if the pool is not watched. */
  readonly watched?: WatchedPool
}

export interface WatchedPool {
  /** The pool's id in the model. */
  readonly poolId: string
  /** Member ids by server name. */
  readonly members: Readonly<Record<string, string>>
}

export interface RenderedServer {
  readonly name: string
  readonly id: number
  readonly address: string
  readonly port: number
  /** 0 to 256. */
  readonly weight: number
  readonly proxyProtocol: NodePool['proxyProtocol']
  /** Members speak HTTP/2 without TLS. Absent: HTTP/1.1. */
  readonly http2?: true
  /** Whether it gets new connections. */
  readonly ready: boolean
  /** Its weight grows to the full value in this time once it is ready. Absent: at once. */
  readonly slowStartMs?: number
  /** How long its connections may last when it is removed. Absent: as in the driver's options. */
  readonly drainMs?: number
  /** The server is down, and its connections should end. */
  readonly reset?: true
}

/**
 * Renders what an entry needs of the proxy, without services that the proxy does not serve. Pure.
 * @param routesOf renders routes; it may know some
 * @throws RangeError, AddressSyntaxError for invalid values, which would break the configuration of other entries
 */
export function renderEntry(
  { entry, down }: Pick<WantedEntry, 'entry' | 'down'>,
  routesOf: KnownRoutes['render'] = (routes, backendOf, _, named) => renderRoutes(routes, backendOf, null, named),
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
        const backend = pool === undefined ? null : renderBackend(pool, mode, service.timeouts, down)
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

const MOST_KEEP_SECONDS = 86_400

const BALANCE: Readonly<Record<NodePool['algorithm'], Balance>> = {
  'round-robin': 'roundrobin',
  'least-connections': 'leastconn',
  'source-ip': 'source',
  'source-ip-port': 'source-port',
}

function renderBackend(
  pool: NodePool,
  mode: ProxyMode,
  { connectMs, memberMs }: Service['timeouts'],
  down: ReadonlySet<string>,
): RenderedBackend {
  const balance = pool.sourceAffinity ? 'source' : BALANCE[pool.algorithm]
  const shape: BackendShape = {
    mode,
    balance,
    connectMs: within(0, connectMs, LONGEST_MS),
    memberMs: within(0, memberMs, LONGEST_MS),
    ...(pool.session === undefined || mode !== 'http' ? {} : { session: sessionShape(pool.id, pool.session) }),
    ...(pool.sourceAffinity && pool.keepSeconds !== undefined
      ? { keepSeconds: within(1, pool.keepSeconds, MOST_KEEP_SECONDS) }
      : {}),
  }
  const effective = effectiveMembers(pool, down)
  const servers = pool.members
    .filter((member) => member !== null)
    .map(
      (member): RenderedServer => ({
        ...serverIdentity(member, pool),
        address: formatIp(parseIp(member.address)),
        port: within(1, member.port, 65_535),
        weight: within(0, member.weight, 256),
        proxyProtocol: pool.proxyProtocol,
        ...(pool.http2 && mode === 'http' ? { http2: true } : {}),
        // Weight 0 drains: such a server stays for its connections.
        ready: member.weight === 0 ? !down.has(member.id) : effective.has(member.id),
        ...(pool.slowStartMs ? { slowStartMs: within(1, pool.slowStartMs, LONGEST_MS) } : {}),
        ...(pool.drainMs === undefined ? {} : { drainMs: within(0, pool.drainMs, LONGEST_MS) }),
        ...(pool.resetOnDown && down.has(member.id) && !effective.has(member.id) ? { reset: true } : {}),
      }),
    )
  return {
    owner: `p${within(1, pool.number, 0xffffff)}/${backendShapeKey(shape)}`,
    shape,
    servers: withUniqueIds(distinct(servers)),
    ...(pool.tls === undefined ? {} : { tls: memberTls(pool.tls) }),
    ...(pool.passive === undefined ? {} : { watched: watchedPool(pool) }),
  }
}

function sessionShape(poolId: string, session: NonNullable<NodePool['session']>): SessionShape {
  const cookie = `SPOUT-${createHash('sha256').update(poolId).digest('hex').slice(0, 8)}`
  if (session.by === 'application-cookie') return { cookie, application: hexOf(session.cookieName) }
  return session.cookie === undefined ? { cookie } : { cookie, attributes: attributesOf(session.cookie) }
}

const hexOf = (text: string): string => Buffer.from(text, 'latin1').toString('hex')

const SAME_SITE: ReadonlySet<string> = new Set(['strict', 'lax', 'none'])

/** Attributes of a cookie, as an entry has them. @throws RangeError */
function attributesOf({ name, path, sameSite, secure, maxAgeSeconds }: SessionCookie): CookieAttributes {
  if (sameSite !== undefined && !SAME_SITE.has(sameSite)) throw new RangeError('no such sameSite')
  return {
    ...(name !== undefined && { name: hexOf(name) }),
    ...(path !== undefined && { path: hexOf(path) }),
    ...(sameSite !== undefined && { sameSite }),
    ...(secure !== undefined && { secure: secure === true }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds: within(1, maxAgeSeconds, LONGEST_MS) }),
  }
}

const watchedPool = (pool: NodePool): WatchedPool => ({
  poolId: pool.id,
  members: Object.fromEntries(
    pool.members.flatMap((member) =>
      member === null ? [] : [[serverIdentity(member, pool).name, member.id] as const],
    ),
  ),
})

/** Two members with one endpoint, which the model refuses, are one server. */
const distinct = (servers: readonly RenderedServer[]): readonly RenderedServer[] =>
  [...new Map(servers.toReversed().map((server) => [server.name, server])).values()].reverse()

/** HAProxy stores milliseconds in 31 bits. */
const LONGEST_MS = 0x7fffffff

function within(least: number, value: number, most: number): number {
  if (Number.isInteger(value) && least <= value && value <= most) return value
  throw new RangeError(`${value} is not a whole number from ${least} to ${most}`)
}
