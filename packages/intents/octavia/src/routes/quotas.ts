import { DEFAULT_QUOTA, limitsOf, QUOTA_RESOURCES } from '@spout/model'
import { LongList } from '@spout/runtime'
import { listScope, requireProject, requireRole } from '../access/access.ts'
import { type LimitEdits, type Limits, quotaResource } from '../resources/quota.ts'
import { readBody } from '../to-model/to-model.ts'
import { printObject } from '../wire/field.ts'
import { dashedUuid } from '../wire/wire-type.ts'
import type { Call, Route } from './route.ts'

const { fields, plural, root } = quotaResource

/** The limits that this API shows. The others belong to other services. */
const OWN = [
  ...(['loadBalancers', 'listeners', 'pools', 'members', 'healthMonitors'] as const),
  ...(['routes', 'routeConditions'] as const),
]

const print = (projectId: string, limits: Limits) => ({ [root]: printObject(fields, { projectId, limits }) })

/** Lists only projects that have limits of their own. */
function list(call: Call) {
  const scope = listScope(call.principal, 'quota-reader', call.query.get('project_id'))
  const quotas = call.context.view
    .list('quota')
    .filter((quota) => scope === null || quota.id === scope)
    .map((quota) => ({ projectId: quota.id, limits: limitsOf(quota.limits) }))
    .filter(({ limits }) => OWN.some((resource) => limits[resource] !== DEFAULT_QUOTA[resource]))
  return { [plural]: LongList.of(quotas, (quota) => printObject(fields, quota)), [`${plural}_links`]: [] }
}

/** The path of the default limits. OpenStack's command line sends `defaults` in place of a project's id. */
function show(call: Call) {
  requireRole(call.principal, 'quota-reader')
  if (call.id === 'defaults') return print(call.id, DEFAULT_QUOTA)
  const projectId = dashedUuid(call.id)
  requireProject(call.principal, 'quota-reader', projectId)
  return print(projectId, call.context.admission.quotaOf(projectId).limits)
}

function showDefault(call: Call) {
  requireProject(call.principal, 'quota-reader', dashedUuid(call.id))
  return print(dashedUuid(call.id), DEFAULT_QUOTA)
}

async function change(call: Call, edits: LimitEdits) {
  const projectId = dashedUuid(call.id)
  const limits = QUOTA_RESOURCES.flatMap((resource) => {
    const limit = edits[resource]
    return limit === undefined ? [] : [[resource, limit === 'default' ? DEFAULT_QUOTA[resource] : limit] as const]
  })
  await call.context.admission.setQuota(projectId, Object.fromEntries(limits))
  return print(projectId, call.context.admission.quotaOf(projectId).limits)
}

async function update(call: Call) {
  requireProject(call.principal, 'quota-admin', dashedUuid(call.id))
  return change(call, readBody(quotaResource, 'update', call.body, call.stamp)({}))
}

async function reset(call: Call) {
  requireProject(call.principal, 'quota-admin', dashedUuid(call.id))
  await change(call, Object.fromEntries(OWN.map((resource) => [resource, 'default'])))
}

export const quotaRoutes: readonly Route[] = [
  { method: 'GET', path: '/quotas', status: 200, handle: list },
  { method: 'GET', path: '/quotas/:id', status: 200, handle: show },
  { method: 'GET', path: '/quotas/:id/default', status: 200, handle: showDefault },
  { method: 'PUT', path: '/quotas/:id', status: 202, handle: update },
  { method: 'DELETE', path: '/quotas/:id', status: 202, handle: reset },
]
