import { call, type Session } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import { findByName, findPart } from '../lookup.ts'
import { at, type Row } from '../resources/resource.ts'
import type { Noun } from './noun.ts'
import { write } from './write.ts'

const rowsOf = (row: Row, field: string): readonly Row[] => (row[field] ?? []) as readonly Row[]

const loadBalancerOf = (session: Session, within: readonly string[]): Promise<Row> =>
  findByName(session, '/load-balancers', 'load balancer', within[0] ?? '')

/** Replaces the pool's name from a flag by its id. */
const withPoolId = (loadBalancer: Row, body: Row): Row =>
  typeof body.defaultPoolId === 'string'
    ? { ...body, defaultPoolId: findPart(rowsOf(loadBalancer, 'pools'), 'pool', body.defaultPoolId).id }
    : body

/** Replaces names of certificates from flags by ids: those of the load balancer's project. */
const withCertificateIds = (session: Session, loadBalancer: Row, body: Row): Promise<Row> =>
  withIds({ ...session, projectId: String(loadBalancer.projectId) }, body)

/** Fields `…CertificateId` and `certificateIds`, here and below. */
async function withIds(owner: Parameters<typeof findByName>[0], fields: Row): Promise<Row> {
  const idOf = async (name: unknown): Promise<unknown> =>
    typeof name === 'string' ? (await findByName(owner, '/certificates', 'certificate', name)).id : name
  const ids: Record<string, unknown> = {}
  for (const [field, named] of Object.entries(fields)) {
    if (field === 'certificateIds' && Array.isArray(named)) {
      const list: unknown[] = []
      for (const name of named) list.push(await idOf(name))
      ids[field] = list
    } else if (/ertificateId$/.test(field)) ids[field] = await idOf(named)
    else if (named !== null && typeof named === 'object' && !Array.isArray(named))
      ids[field] = await withIds(owner, named as Row)
  }
  return { ...fields, ...ids }
}

/** Listeners: parts of a load balancer with their own paths. */
export const listeners: Noun = {
  list: async (session, within) => rowsOf(await loadBalancerOf(session, within), 'listeners'),
  show: async (session, within, name) =>
    findPart(rowsOf(await loadBalancerOf(session, within), 'listeners'), 'listener', name),
  create: async (session, within, name, body) => {
    const loadBalancer = await loadBalancerOf(session, within)
    const path = `/load-balancers/${String(loadBalancer.id)}/listeners`
    return write(session, 'POST', path, {
      name,
      ...(await withCertificateIds(session, loadBalancer, withPoolId(loadBalancer, body))),
    })
  },
  set: async (session, within, name, body) => {
    const loadBalancer = await loadBalancerOf(session, within)
    const { id } = findPart(rowsOf(loadBalancer, 'listeners'), 'listener', name)
    const path = `/load-balancers/${String(loadBalancer.id)}/listeners/${String(id)}`
    const change = await withCertificateIds(session, loadBalancer, withPoolId(loadBalancer, body))
    return write(session, 'PATCH', path, change)
  },
  delete: async (session, within, name) => {
    const loadBalancer = await loadBalancerOf(session, within)
    const { id } = findPart(rowsOf(loadBalancer, 'listeners'), 'listener', name)
    await write(session, 'DELETE', `/load-balancers/${String(loadBalancer.id)}/listeners/${String(id)}`)
  },
  watchPath: '/load-balancers',
}

/** Pools: `--listener` makes the new one that listener's default. */
export const pools: Noun = {
  list: async (session, within) => rowsOf(await loadBalancerOf(session, within), 'pools'),
  show: async (session, within, name) => findPart(rowsOf(await loadBalancerOf(session, within), 'pools'), 'pool', name),
  create: async (session, within, name, { listener, ...body }) => {
    const loadBalancer = await loadBalancerOf(session, within)
    const root = `/load-balancers/${String(loadBalancer.id)}`
    if (listener !== undefined && session.previewing !== undefined)
      throw new SpoutError('InvalidField', {
        field: '--listener',
        reason: 'is a second change: leave it out in a dry run',
      })
    const wanted =
      listener === undefined ? null : findPart(rowsOf(loadBalancer, 'listeners'), 'listener', String(listener))
    const draft = await withCertificateIds(session, loadBalancer, body)
    const created = await write<Row>(session, 'POST', `${root}/pools`, { name, ...draft })
    if (wanted) await write(session, 'PATCH', `${root}/listeners/${String(wanted.id)}`, { defaultPoolId: created.id })
    return created
  },
  set: async (session, within, name, body) => {
    const loadBalancer = await loadBalancerOf(session, within)
    const { id } = findPart(rowsOf(loadBalancer, 'pools'), 'pool', name)
    const path = `/load-balancers/${String(loadBalancer.id)}/pools/${String(id)}`
    return write(session, 'PATCH', path, await withCertificateIds(session, loadBalancer, body))
  },
  delete: async (session, within, name) => {
    const loadBalancer = await loadBalancerOf(session, within)
    const { id } = findPart(rowsOf(loadBalancer, 'pools'), 'pool', name)
    await write(session, 'DELETE', `/load-balancers/${String(loadBalancer.id)}/pools/${String(id)}`)
  },
  watchPath: '/load-balancers',
}

/** Members are added and removed by replacing the pool's set, and changed one by one. */
export const members: Noun = {
  list: async (session, within) => (await poolOf(session, within)).members,
  show: async (session, within, name) => findPart((await poolOf(session, within)).members, 'member', name),
  create: async (session, within, name, body) => {
    const { path, stored } = await poolOf(session, within)
    const changed = await write<Row>(session, 'PUT', path, { members: [...stored, { name, ...body }] })
    return rowsOf(changed, 'members').at(-1) ?? {}
  },
  set: async (session, within, name, body) => {
    const { path, stored } = await poolOf(session, within)
    const id = String(findPart(stored, 'member', name).id)
    await write(session, 'PATCH', `${path}/${id}`, body)
    return members.show(session, within, id)
  },
  delete: async (session, within, name) => {
    const { path, stored } = await poolOf(session, within)
    const { id } = findPart(stored, 'member', name)
    await write(session, 'PUT', path, { members: stored.filter((known) => known.id !== id) })
  },
  watchPath: '/load-balancers',
}

async function poolOf(
  session: Session,
  within: readonly string[],
): Promise<{ path: string; stored: readonly Row[]; members: readonly Row[] }> {
  const loadBalancer = await loadBalancerOf(session, within)
  const pool = findPart(rowsOf(loadBalancer, 'pools'), 'pool', within[1] ?? '')
  const health = (at(loadBalancer, 'status.members') ?? {}) as Readonly<Record<string, Row>>
  const stored = rowsOf(pool, 'members')
  return {
    path: `/load-balancers/${String(loadBalancer.id)}/pools/${String(pool.id)}/members`,
    stored,
    members: stored.map((member) => ({
      ...member,
      health: health[String(member.id)]?.health ?? 'unprobed',
      healthReason: health[String(member.id)]?.reason ?? null,
    })),
  }
}

/** Subnets of a tenant network. */
export const subnets: Noun = {
  list: async (session, within) =>
    rowsOf(await findByName(session, '/networks', 'network', within[0] ?? ''), 'subnets'),
  show: async (session, within, name) => findPart(await subnets.list(session, within), 'subnet', name),
  create: async (session, within, name, body) => {
    const { id } = await findByName(session, '/networks', 'network', within[0] ?? '')
    return call(session, 'POST', `/networks/${String(id)}/subnets`, { name, ...body })
  },
  delete: async (session, within, name) => {
    const network = await findByName(session, '/networks', 'network', within[0] ?? '')
    const { id } = findPart(rowsOf(network, 'subnets'), 'subnet', name)
    await call(session, 'DELETE', `/networks/${String(network.id)}/subnets/${String(id)}`)
  },
  watchPath: '/networks',
}
