import type { Session } from '@spout/client/api'
import { SpoutError } from '@spout/model'
import { findByName, listOf } from '../lookup.ts'
import type { Resource, Row } from '../resources/resource.ts'
import type { Noun } from './noun.ts'
import { write } from './write.ts'

type Completion = (session: Session, name: string, body: Row) => Promise<Row>

const nameIt: Completion = async (_session, name, body) => ({ name, ...body })

/** A noun with a path of its own under `/api/v1`. `complete` replaces names in the body by ids. */
export const collection = ({ path, title, references = {} }: Resource, complete: Completion = nameIt): Noun => ({
  list: (session) => listOf(session, path),
  show: (session, _within, name) => findByName(session, path, title, name),
  create: async (session, _within, name, body) =>
    write<Row>(session, 'POST', path, await complete(session, name, await withIds(session, references, body))),
  set: async (session, _within, name, body) => {
    const { id } = await findByName(session, path, title, name)
    return write<Row>(session, 'PATCH', `${path}/${String(id)}`, await withIds(session, references, body))
  },
  delete: async (session, _within, name) => {
    const { id } = await findByName(session, path, title, name)
    await write(session, 'DELETE', `${path}/${String(id)}`)
  },
  watchPath: path,
})

/** Replaces names from flags by ids. */
async function withIds(session: Session, references: NonNullable<Resource['references']>, body: Row): Promise<Row> {
  const found: Record<string, unknown> = { ...body }
  for (const [field, value] of Object.entries(body)) {
    const reference = references[field]
    if (reference === undefined) {
      if (value !== null && typeof value === 'object' && !Array.isArray(value))
        found[field] = await withIds(session, references, value as Row)
    } else if (Array.isArray(value))
      found[field] = await Promise.all(value.map((name) => idOf(session, reference.path, reference.title, name)))
    else if (typeof value === 'string') found[field] = await idOf(session, reference.path, reference.title, value)
  }
  return found
}

const idOf = async (session: Session, path: string, what: string, name: unknown): Promise<string> =>
  String((await findByName(session, path, what, String(name))).id)

/** Turns `--pool`, `--subnet` and `--address` into the requested VIP. */
export const completeLoadBalancer: Completion = async (session, name, body) => {
  const { addressPool, subnet, address, project, ...rest } = body
  if (addressPool !== undefined && subnet !== undefined)
    throw new SpoutError('InvalidField', { field: '--subnet', reason: 'cannot be combined with --pool' })
  return {
    name,
    ...rest,
    ...(await ownedBy(session, project)),
    vips: [await vipRequest(session, addressPool, subnet, address ?? null)],
  }
}

async function vipRequest(session: Session, pool: unknown, subnet: unknown, address: unknown): Promise<Row> {
  if (subnet !== undefined) {
    const networks = await listOf(session, '/networks')
    for (const network of networks)
      for (const candidate of network.subnets as readonly Row[])
        if (candidate.id === subnet || candidate.name === subnet)
          return { from: 'subnet', networkId: network.id, subnetId: candidate.id, address }
    throw new SpoutError('NotFound', { what: 'subnet', id: String(subnet) })
  }
  if (pool !== undefined)
    return { from: 'pool', poolId: await idOf(session, '/address-pools', 'address pool', pool), address }
  const pools = await listOf(session, '/address-pools')
  const giving = pools.filter(({ draining }) => draining !== true)
  const [only, second] = giving.length > 0 ? giving : pools
  if (!only) throw new SpoutError('NotFound', { what: 'Address pool', id: '(any)' })
  if (second) throw new SpoutError('MissingField', { field: '--pool' })
  return { from: 'pool', poolId: only.id, address }
}

/** The project of that name, as the field of a body. */
export const ownedBy = async (session: Session, project: unknown): Promise<Row> =>
  project === undefined ? {} : { projectId: await idOf(session, '/projects', 'project', project) }

export const completeOwned: Completion = async (session, name, { project, ...rest }) => ({
  name,
  ...rest,
  ...(await ownedBy(session, project)),
})

export const completeNetwork: Completion = async (session, name, { segment, ...rest }) => ({
  ...(await completeOwned(session, name, rest)),
  ...(segment === undefined ? {} : { segment: { vlan: null, ...(segment as Row) } }),
})

/** The name given is that of the node. Without `--node-group` the node joins the only group there is. */
export const completeToken: Completion = async (session, name, { nodeGroup, ...rest }) => {
  if (nodeGroup !== undefined)
    return { nodeName: name, ...rest, nodeGroupId: await idOf(session, '/node-groups', 'node group', nodeGroup) }
  const [only, second] = await listOf(session, '/node-groups')
  if (!only) throw new SpoutError('NotFound', { what: 'Node group', id: '(any)' })
  if (second) throw new SpoutError('MissingField', { field: '--node-group' })
  return { nodeName: name, ...rest, nodeGroupId: only.id }
}
