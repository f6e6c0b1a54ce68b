import { requireRole } from '../access/access.ts'
import { readReferences } from '../access/read-references.ts'
import { blankListener, listenerResource } from '../resources/listener.ts'
import { listenerReferences } from '../snapshots/references.ts'
import { addListener, specReferences } from '../to-model/create-listeners.ts'
import { changeListener, removeListener } from '../to-model/edit-graph.ts'
import { readBody } from '../to-model/to-model.ts'
import { listenerReadings, printStats } from '../write-back/write-back.ts'
import { changeChildren, readNew } from './change-children.ts'
import { childViews } from './child-views.ts'
import { findChild, findLoadBalancer, snapshot } from './find.ts'
import { type Call, GRAPH_BODY_LIMIT_BYTES, type Route } from './route.ts'

const { print, list, show } = childViews('listener', listenerResource, listenerReadings)

async function create(call: Call) {
  requireRole(call.principal, 'member')
  const spec = await readNew(listenerResource, call, blankListener)
  const { id, projectId } = findLoadBalancer(call, spec.loadBalancerId ?? '', 'member')
  await readReferences(call.context, projectId, specReferences(spec))
  const lb = await changeChildren(call, id, addListener(spec))
  return print(call, lb, spec.model.id)
}

async function update(call: Call) {
  const { lb: found } = findChild(call, 'listener', call.id, 'member')
  const edit = readBody(listenerResource, 'update', call.body, call.stamp)
  await readReferences(call.context, found.projectId, listenerReferences(edit(blankListener(call.stamp))))
  const lb = await changeChildren(call, found.id, changeListener(call.id, edit, call.stamp.now))
  return print(call, lb, call.id)
}

async function remove(call: Call) {
  const { lb } = findChild(call, 'listener', call.id, 'member')
  await changeChildren(call, lb.id, removeListener(call.id))
}

const stats = (call: Call) => printStats(snapshot(call, findChild(call, 'listener', call.id, 'reader').lb), [call.id])

export const listenerRoutes: readonly Route[] = [
  { method: 'GET', path: '/listeners', status: 200, handle: list },
  { method: 'POST', path: '/listeners', status: 201, handle: create, bodyLimitBytes: GRAPH_BODY_LIMIT_BYTES },
  { method: 'GET', path: '/listeners/:id', status: 200, handle: show },
  { method: 'PUT', path: '/listeners/:id', status: 200, handle: update },
  { method: 'DELETE', path: '/listeners/:id', status: 204, handle: remove },
  { method: 'GET', path: '/listeners/:id/stats', status: 200, handle: stats },
]
