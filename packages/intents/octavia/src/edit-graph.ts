import type { Member } from '@spout/model'
import type { Graph, OctaviaListener, OctaviaMember, OctaviaMonitor, OctaviaPool } from './octavia-resources.ts'
import { type ListenerSpec, listenerSpecOf } from './resources/listener.ts'
import { blankMember } from './resources/member.ts'
import { type PoolSpec, poolSpecOf } from './resources/pool.ts'
import { notFound, OctaviaFault, validationFailure } from './wire/fault.ts'
import type { Edit } from './wire/field.ts'
import type { Stamp } from './wire/wire-type.ts'

/** A request's change to the children of a load balancer. Pure, so that it can be repeated on a newer version. */
export type GraphEdit = Edit<Graph>

interface Identified {
  readonly model: { readonly id: string }
}

const has =
  (id: string) =>
  ({ model }: Identified) =>
    model.id === id

/** @throws OctaviaFault 404: it was deleted during the request */
function replaced<T extends Identified>(items: readonly T[], id: string, word: string, edit: (item: T) => T) {
  if (!items.some(has(id))) throw notFound(word, id)
  return items.map((item) => (item.model.id === id ? edit(item) : item))
}

export const addListener =
  (spec: ListenerSpec): GraphEdit =>
  (graph) => {
    const { loadBalancerId: _, defaultPool, ...added } = spec
    if (defaultPool === null) return { ...graph, listeners: [...graph.listeners, added] }
    const pool = octaviaPoolOf(defaultPool)
    const listener = { ...added, model: { ...added.model, defaultPoolId: pool.model.id } }
    return { listeners: [...graph.listeners, listener], pools: [...graph.pools, pool] }
  }

export const changeListener =
  (id: string, edit: Edit<ListenerSpec>, now: string): GraphEdit =>
  (graph) => ({
    ...graph,
    listeners: replaced(graph.listeners, id, 'Listener', (listener): OctaviaListener => {
      const { loadBalancerId: _, defaultPool: __, ...edited } = edit(listenerSpecOf(listener))
      return { ...edited, model: { ...edited.model, updatedAt: now } }
    }),
  })

export const removeListener =
  (id: string): GraphEdit =>
  (graph) => ({ ...graph, listeners: graph.listeners.filter((listener) => !has(id)(listener)) })

export const addPool =
  (spec: PoolSpec): GraphEdit =>
  (graph) => {
    const pool = octaviaPoolOf(spec)
    const pools = [...graph.pools, pool]
    if (spec.listenerId === null) return { ...graph, pools }
    return {
      listeners: replaced(graph.listeners, spec.listenerId, 'Listener', (listener) => {
        if (listener.model.defaultPoolId !== null)
          throw new OctaviaFault(409, 'This listener already has a default pool')
        return { ...listener, model: { ...listener.model, defaultPoolId: pool.model.id } }
      }),
      pools,
    }
  }

/** @throws OctaviaFault when a pool of a graph lacks a required attribute, or has a member twice */
export function octaviaPoolOf(spec: PoolSpec): OctaviaPool {
  const { model, protocol, hasAlgorithm, persistence, monitor } = spec
  const missing = protocol === null ? 'protocol' : hasAlgorithm ? null : 'lb_algorithm'
  if (protocol === null || missing !== null)
    throw validationFailure(`Pool definition for '${model.name}' missing required attribute: ${missing}`)
  refuseDoubledMembers(model.members)
  return { model, protocol, persistence, monitor }
}

export const changePool =
  (id: string, edit: Edit<PoolSpec>, now: string): GraphEdit =>
  (graph) => ({
    ...graph,
    pools: replaced(graph.pools, id, 'Pool', (pool) => {
      const edited = octaviaPoolOf(edit(poolSpecOf(pool)))
      return { ...edited, model: { ...edited.model, updatedAt: now } }
    }),
  })

/** Listeners whose default pool it was have none afterwards. */
export const removePool =
  (id: string): GraphEdit =>
  (graph) => ({
    listeners: graph.listeners.map((listener) =>
      listener.model.defaultPoolId === id
        ? { ...listener, model: { ...listener.model, defaultPoolId: null } }
        : listener,
    ),
    pools: graph.pools.filter((pool) => !has(id)(pool)),
  })

export const setMonitor =
  (poolId: string, monitor: OctaviaMonitor): GraphEdit =>
  (graph) => ({
    ...graph,
    pools: replaced(graph.pools, poolId, 'Pool', (pool) => {
      if (pool.monitor !== null) throw new OctaviaFault(409, 'This pool already has a health monitor')
      return { ...pool, monitor }
    }),
  })

export const changeMonitor =
  (poolId: string, id: string, edit: Edit<OctaviaMonitor>, now: string): GraphEdit =>
  (graph) => ({
    ...graph,
    pools: replaced(graph.pools, poolId, 'Pool', (pool) => {
      if (pool.monitor?.model.id !== id) throw notFound('Health Monitor', id)
      const edited = edit(pool.monitor)
      return { ...pool, monitor: { ...edited, model: { ...edited.model, updatedAt: now } } }
    }),
  })

export const removeMonitor =
  (poolId: string): GraphEdit =>
  (graph) => ({
    ...graph,
    pools: replaced(graph.pools, poolId, 'Pool', (pool) => ({ ...pool, monitor: null })),
  })

const changeMembers =
  (poolId: string, change: (members: readonly Member[]) => readonly Member[]): GraphEdit =>
  (graph) => ({
    ...graph,
    pools: replaced(graph.pools, poolId, 'Pool', (pool) => ({
      ...pool,
      model: { ...pool.model, members: [...change(pool.model.members)] },
    })),
  })

export const addMember = (poolId: string, { model }: OctaviaMember): GraphEdit =>
  changeMembers(poolId, (members) => {
    const all = [...members, model]
    refuseDoubledMembers(all)
    return all
  })

export const changeMember = (poolId: string, id: string, edit: Edit<OctaviaMember>, now: string): GraphEdit =>
  changeMembers(poolId, (members) => {
    if (!members.some((member) => member.id === id)) throw notFound('Member', id)
    return members.map((member) => (member.id === id ? { ...edit({ model: member }).model, updatedAt: now } : member))
  })

export const removeMember = (poolId: string, id: string): GraphEdit =>
  changeMembers(poolId, (members) => members.filter((member) => member.id !== id))

export interface MemberSet {
  /** Each is read like a creation; a member of the same address and port is edited instead. */
  readonly members: readonly Edit<OctaviaMember>[]
  readonly additiveOnly: boolean
}

/** Replaces the whole set of members. Members that do not change keep their place and their times. */
export const replaceMembers = (poolId: string, { members, additiveOnly }: MemberSet, stamp: Stamp): GraphEdit =>
  changeMembers(poolId, (present) => {
    const wanted = wantedByEndpoint(members, new Set(present.map(endpointOf)), stamp)
    const kept = present.flatMap((member) => {
      const edit = wanted.get(endpointOf(member))
      if (edit === undefined) return additiveOnly ? [member] : []
      wanted.delete(endpointOf(member))
      return [editedMember(member, edit, stamp.now)]
    })
    return [...kept, ...[...wanted.values()].map((edit) => edit(blankMember(stamp)).model)]
  })

function wantedByEndpoint(
  members: readonly Edit<OctaviaMember>[],
  present: ReadonlySet<string>,
  { now }: Stamp,
): Map<string, Edit<OctaviaMember>> {
  const nowhere = blankMember({ newId: () => '', now })
  const wanted = new Map<string, Edit<OctaviaMember>>()
  for (const edit of members) {
    const { model } = edit(nowhere)
    const endpoint = endpointOf(model)
    if (wanted.has(endpoint))
      throw present.has(endpoint)
        ? validationFailure('Member must be updated only once in the same request.')
        : doubledMember(model)
    wanted.set(endpoint, edit)
  }
  return wanted
}

function editedMember(member: Member, edit: Edit<OctaviaMember>, now: string): Member {
  const { model } = edit({ model: member })
  if (model.subnetId !== member.subnetId) throw validationFailure(`subnet_id of member ${member.id} cannot be changed.`)
  return sameFields(model, member) ? member : { ...model, updatedAt: now }
}

/** Both come from the same blank, so their fields are in the same order. */
const sameFields = (a: Member, b: Member): boolean =>
  Object.entries(a).every(([name, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(b, name)))

const endpointOf = ({ address, port }: Member): string => `${address} ${port}`

const doubledMember = ({ address, port }: Member): OctaviaFault =>
  new OctaviaFault(409, `Another member on this pool is already using ip ${address} on protocol_port ${port}`)

function refuseDoubledMembers(members: readonly Member[]): void {
  const seen = new Set<string>()
  for (const member of members) {
    if (seen.has(endpointOf(member))) throw doubledMember(member)
    seen.add(endpointOf(member))
  }
}
