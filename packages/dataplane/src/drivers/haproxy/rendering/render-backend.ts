import { createHash } from 'node:crypto'
import type { NodePool, Service, SessionCookie } from '@spout/model'
import { formatIp, parseIp } from '@spout/net'
import { effectiveMembers } from '@spout/plan/effective-members'
import {
  type BackendShape,
  type Balance,
  backendShapeKey,
  type CookieAttributes,
  type ProxyMode,
  type SessionShape,
} from '../sections/shape.ts'
import { type MemberTls, memberTls } from './member-tls.ts'
import { serverIdentity, withUniqueIds } from './server-identity.ts'
import { LONGEST_MS, within } from './within.ts'

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

const MOST_KEEP_SECONDS = 86_400

const BALANCE: Readonly<Record<NodePool['algorithm'], Balance>> = {
  'round-robin': 'roundrobin',
  'least-connections': 'leastconn',
  'source-ip': 'source',
  'source-ip-port': 'source-port',
}

/**
 * Renders what a pool needs of the proxy under a listener with these time-outs. Pure.
 * @throws RangeError, AddressSyntaxError
 */
export function renderBackend(
  pool: NodePool,
  mode: ProxyMode,
  { connectMs, memberMs }: Pick<Service['timeouts'], 'connectMs' | 'memberMs'>,
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
