import { requireRole } from '../access/access.ts'
import { blankMonitor, type MonitorSpec, monitorResource } from '../resources/health-monitor.ts'
import { changeMonitor, removeMonitor, setMonitor } from '../to-model/edit-graph.ts'
import { graphChange, readBody } from '../to-model/to-model.ts'
import { notFound } from '../wire/fault.ts'
import { monitorReadings } from '../write-back/write-back.ts'
import { childViews } from './child-views.ts'
import { findChild } from './find.ts'
import type { Call, Route } from './route.ts'

const { print, list, show } = childViews('healthMonitor', monitorResource, monitorReadings)

async function create(call: Call) {
  requireRole(call.principal, 'member')
  const spec = readBody(monitorResource, 'create', call.body, call.stamp)(blankMonitor(call.stamp))
  const { poolId, ...monitor } = spec
  const { lb: found } = findChild(call, 'pool', poolId ?? '', 'member')
  const change = graphChange(setMonitor(poolId ?? '', monitor))
  return print(call, await call.context.admission.changeLoadBalancer(found.id, change), spec.model.id)
}

/** A monitor, and the pool that it checks. */
function findMonitor(call: Call) {
  const { lb, ref } = findChild(call, 'healthMonitor', call.id, 'member')
  if (ref.poolId === null) throw notFound('Health Monitor', call.id)
  return { lb, poolId: ref.poolId }
}

async function update(call: Call) {
  const { lb: found, poolId } = findMonitor(call)
  const edit = readBody(monitorResource, 'update', call.body, call.stamp)
  const change = graphChange(
    changeMonitor(poolId, call.id, (monitor) => withoutPool(edit({ ...monitor, poolId: null })), call.stamp.now),
  )
  return print(call, await call.context.admission.changeLoadBalancer(found.id, change), call.id)
}

const withoutPool = ({ poolId: _, ...monitor }: MonitorSpec) => monitor

async function remove(call: Call) {
  const { lb, poolId } = findMonitor(call)
  await call.context.admission.changeLoadBalancer(lb.id, graphChange(removeMonitor(poolId)))
}

export const monitorRoutes: readonly Route[] = [
  { method: 'GET', path: '/healthmonitors', status: 200, handle: list },
  { method: 'POST', path: '/healthmonitors', status: 201, handle: create },
  { method: 'GET', path: '/healthmonitors/:id', status: 200, handle: show },
  { method: 'PUT', path: '/healthmonitors/:id', status: 200, handle: update },
  { method: 'DELETE', path: '/healthmonitors/:id', status: 204, handle: remove },
]
