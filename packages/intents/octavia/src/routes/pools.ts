import type { LoadBalancer } from '@spout/model'
import { requireRole } from '../access/access.ts'
import { readReferences } from '../access/read-references.ts'
import { blankPool, type PoolSpec, poolResource } from '../resources/pool.ts'
import { poolReferences } from '../snapshots/references.ts'
import { addPool, changePool, removePool } from '../to-model/edit-graph.ts'
import { readBody } from '../to-model/to-model.ts'
import { validationFailure } from '../wire/fault.ts'
import { poolReadings } from '../write-back/write-back.ts'
import { changeChildren, readNew } from './change-children.ts'
import { childViews } from './child-views.ts'
import { findChild, findLoadBalancer } from './find.ts'
import { type Call, GRAPH_BODY_LIMIT_BYTES, type Route } from './route.ts'

const { print, list, show } = childViews('pool', poolResource, poolReadings)

/** The named load balancer, or the named listener's. */
function parentOf(call: Call, { loadBalancerId, listenerId }: PoolSpec): LoadBalancer {
  if (loadBalancerId !== null) return findLoadBalancer(call, loadBalancerId, 'member')
  if (listenerId !== null) return findChild(call, 'listener', listenerId, 'member').lb
  throw validationFailure('Must provide at least one of: loadbalancer_id, listener_id')
}

async function create(call: Call) {
  requireRole(call.principal, 'member')
  const spec = await readNew(poolResource, call, blankPool)
  const { id, projectId } = parentOf(call, spec)
  await readReferences(call.context, projectId, poolReferences(spec))
  const lb = await changeChildren(call, id, addPool(spec))
  return print(call, lb, spec.model.id)
}

async function update(call: Call) {
  const { lb: found } = findChild(call, 'pool', call.id, 'member')
  const edit = readBody(poolResource, 'update', call.body, call.stamp)
  await readReferences(call.context, found.projectId, poolReferences(edit(blankPool(call.stamp))))
  const lb = await changeChildren(call, found.id, changePool(call.id, edit, call.stamp.now))
  return print(call, lb, call.id)
}

async function remove(call: Call) {
  const { lb } = findChild(call, 'pool', call.id, 'member')
  await changeChildren(call, lb.id, removePool(call.id))
}

export const poolRoutes: readonly Route[] = [
  { method: 'GET', path: '/pools', status: 200, handle: list },
  { method: 'POST', path: '/pools', status: 201, handle: create, bodyLimitBytes: GRAPH_BODY_LIMIT_BYTES },
  { method: 'GET', path: '/pools/:id', status: 200, handle: show },
  { method: 'PUT', path: '/pools/:id', status: 200, handle: update },
  { method: 'DELETE', path: '/pools/:id', status: 204, handle: remove },
]
