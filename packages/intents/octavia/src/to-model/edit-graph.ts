import { type ListenerSpec, listenerSpecOf } from '../resources/listener.ts'
import { type PoolSpec, poolSpecOf } from '../resources/pool.ts'
import type { Graph, OctaviaListener, OctaviaMonitor, OctaviaPool } from '../terms/octavia-resources.ts'
import { notFound, OctaviaFault, validationFailure } from '../wire/fault.ts'
import type { Edit } from '../wire/field.ts'
import { refuseDoubledMembers } from './edit-members.ts'

/**
 * A request's change to the children of a load balancer. (A change of only members is in edit-members.ts.) Pure, so
 * that it can be repeated on a newer version.
 */
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

export const changeListener =
  (id: string, edit: Edit<ListenerSpec>, now: string): GraphEdit =>
  (graph) => ({
    ...graph,
    listeners: replaced(graph.listeners, id, 'Listener', (listener): OctaviaListener => {
      const { loadBalancerId: _, defaultPool: __, newPolicies: ___, ...edited } = edit(listenerSpecOf(listener))
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
  const { model, protocol, hasAlgorithm, tls, persistence, monitor } = spec
  const missing = protocol === null ? 'protocol' : hasAlgorithm ? null : 'lb_algorithm'
  if (protocol === null || missing !== null)
    throw validationFailure(`Pool definition for '${model.name}' missing required attribute: ${missing}`)
  refuseDoubledMembers(model.members)
  return { model, protocol, tls, persistence, monitor }
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

/** Deletes a pool. Listeners whose default pool it was have none afterwards. */
export const removePool =
  (id: string): GraphEdit =>
  (graph) => {
    const policy = graph.listeners
      .flatMap(({ policies }) => policies)
      .find(({ redirectPoolId }) => redirectPoolId === id)
    if (policy !== undefined) throw new OctaviaFault(409, `Pool ${id} is in use by L7 policy ${policy.model.id}`)
    return {
      listeners: graph.listeners.map((listener) =>
        listener.model.defaultPoolId === id
          ? { ...listener, model: { ...listener.model, defaultPoolId: null } }
          : listener,
      ),
      pools: graph.pools.filter((pool) => !has(id)(pool)),
    }
  }

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
