import { createHash } from 'node:crypto'
import type { NodeMember, NodePool } from '@spout/model'
import { memberTls, memberTlsKey } from './member-tls.ts'

export interface ServerIdentity {
  readonly name: string
  /** HAProxy's numeric id, 1 to 2^31-1: the server's position on the hash ring. */
  readonly id: number
}

/**
 * The name of a server is derived from its endpoint, not its member. A member that is deleted and created again while
 * its server drains gets that server back, and every node hashes a client to the same one. Properties that cannot be
 * changed at run time are part of the name.
 */
export function serverIdentity(
  member: Pick<NodeMember, 'address' | 'port'>,
  {
    id,
    proxyProtocol,
    slowStartMs,
    session,
    tls,
    http2,
  }: Pick<NodePool, 'id' | 'proxyProtocol' | 'slowStartMs' | 'session' | 'tls' | 'http2'>,
): ServerIdentity {
  const fixed = [
    proxyProtocol,
    ...(slowStartMs ? [`slowstart ${slowStartMs}`] : []),
    ...(tls === undefined ? [] : [memberTlsKey(memberTls(tls))]),
    ...(http2 ? ['h2'] : []),
  ].join(' ')
  const endpoint = `${member.address} ${member.port} ${fixed}`
  const digest = digestOf(endpoint)
  // Clients see the name in a cookie. Without the pool's id nobody finds the endpoint by trying.
  const named = session === undefined ? digest : digestOf(`${endpoint} ${id}`)
  return { name: `m${named.toString('hex', 0, 8)}`, id: digest.readUInt32BE(8) >>> 1 || 1 }
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The same servers with unique ids. If two collide (one pair in two billion), the later by name gets another id. */
export function withUniqueIds<Server extends ServerIdentity>(servers: readonly Server[]): readonly Server[] {
  if (new Set(servers.map(({ id }) => id)).size === servers.length) return servers
  const taken = new Set<number>()
  const idOf = new Map<string, number>()
  for (const { name, id } of servers.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    let free = id
    while (taken.has(free)) free = (free % 0x7fffffff) + 1
    taken.add(free)
    idOf.set(name, free)
  }
  return servers.map((server) => ({ ...server, id: idOf.get(server.name) ?? server.id }))
}
