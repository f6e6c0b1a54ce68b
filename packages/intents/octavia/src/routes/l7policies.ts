import type { LoadBalancer } from '@spout/model'
import { type Persona, requireRole } from '../access/access.ts'
import { blankPolicy, policyResource } from '../resources/l7policy.ts'
import { blankRule, ruleResource } from '../resources/l7rule.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { addPolicy, addRule, changePolicy, changeRule, removePolicy, removeRule } from '../to-model/edit-policies.ts'
import { graphChange, readBody } from '../to-model/to-model.ts'
import { notFound } from '../wire/fault.ts'
import { printObject } from '../wire/field.ts'
import { policyReadings, ruleReadings } from '../write-back/write-back.ts'
import { childViews } from './child-views.ts'
import { findChild, justWritten, snapshot } from './find.ts'
import { parseListQuery, printPage } from './list-query.ts'
import type { Call, Route } from './route.ts'

/** The policies in order of creation, like all lists. A listener keeps them by position. */
const byCreation = (from: Snapshot) =>
  policyReadings(from).toSorted((a, b) => Date.parse(a.model.createdAt) - Date.parse(b.model.createdAt))

const { print, list } = childViews('route', policyResource, byCreation)

async function create(call: Call) {
  requireRole(call.principal, 'member')
  const spec = readBody(policyResource, 'create', call.body, call.stamp)(blankPolicy(call.stamp))
  const { lb: found } = findChild(call, 'listener', spec.listenerId ?? '', 'member')
  const lb = await call.context.admission.changeLoadBalancer(found.id, graphChange(addPolicy(spec)))
  return print(call, lb, spec.model.id)
}

async function update(call: Call) {
  const lb = findPolicy(call, 'member')
  const edit = readBody(policyResource, 'update', call.body, call.stamp)
  const change = graphChange(changePolicy(call.id, edit, call.stamp.now))
  return print(call, await call.context.admission.changeLoadBalancer(lb.id, change), call.id)
}

async function remove(call: Call) {
  const lb = findPolicy(call, 'member')
  await call.context.admission.changeLoadBalancer(lb.id, graphChange(removePolicy(call.id)))
}

const show = (call: Call) => print(call, findPolicy(call, 'reader'), call.id, parseListQuery(call.query).fields)

/** The load balancer of a policy. Routes that were not made from policies are not found. */
function findPolicy(call: Call, role: Persona): LoadBalancer {
  const { lb } = findChild(call, 'route', call.id, role)
  if (!policyReadings(snapshot(call, lb)).some(({ model }) => model.id === call.id))
    throw notFound('L7 Policy', call.id)
  return lb
}

const rulesOf = (call: Call, lb: LoadBalancer) => ruleReadings(snapshot(call, lb), call.id)

/** The load balancer of a rule, which must be a rule of the policy that the path names. */
function findRule(call: Call, role: Persona): LoadBalancer {
  const lb = findPolicy(call, role)
  if (!rulesOf(call, lb).some(({ model }) => model.id === call.childId)) throw notFound('L7 Rule', call.childId)
  return lb
}

const printRule = (call: Call, lb: LoadBalancer, id: string, only?: ReadonlySet<string>) => ({
  [ruleResource.root]: printObject(ruleResource.fields, justWritten(rulesOf(call, lb), id), only),
})

const listRules = (call: Call) =>
  printPage(
    ruleResource.plural,
    ruleResource.fields,
    rulesOf(call, findPolicy(call, 'reader')),
    parseListQuery(call.query),
    call.url,
  )

const showRule = (call: Call) =>
  printRule(call, findRule(call, 'reader'), call.childId, parseListQuery(call.query).fields)

async function createRule(call: Call) {
  const found = findPolicy(call, 'member')
  const spec = readBody(ruleResource, 'create', call.body, call.stamp)(blankRule(call.stamp))
  const lb = await call.context.admission.changeLoadBalancer(found.id, graphChange(addRule(call.id, spec)))
  return printRule(call, lb, spec.model.id)
}

async function updateRule(call: Call) {
  const found = findRule(call, 'member')
  const edit = readBody(ruleResource, 'update', call.body, call.stamp)
  const change = graphChange(changeRule(call.id, call.childId, edit, call.stamp.now))
  return printRule(call, await call.context.admission.changeLoadBalancer(found.id, change), call.childId)
}

async function removeOneRule(call: Call) {
  const { id } = findRule(call, 'member')
  await call.context.admission.changeLoadBalancer(id, graphChange(removeRule(call.id, call.childId)))
}

export const policyRoutes: readonly Route[] = [
  { method: 'GET', path: '/l7policies', status: 200, handle: list },
  { method: 'POST', path: '/l7policies', status: 201, handle: create },
  { method: 'GET', path: '/l7policies/:id', status: 200, handle: show },
  { method: 'PUT', path: '/l7policies/:id', status: 200, handle: update },
  { method: 'DELETE', path: '/l7policies/:id', status: 204, handle: remove },
  { method: 'GET', path: '/l7policies/:id/rules', status: 200, handle: listRules },
  { method: 'POST', path: '/l7policies/:id/rules', status: 201, handle: createRule },
  { method: 'GET', path: '/l7policies/:id/rules/:childId', status: 200, handle: showRule },
  { method: 'PUT', path: '/l7policies/:id/rules/:childId', status: 200, handle: updateRule },
  { method: 'DELETE', path: '/l7policies/:id/rules/:childId', status: 204, handle: removeOneRule },
]
