import { inTurns, WrittenAnswer, WrittenJson } from '@spout/runtime'
import { ownerOfNew, requireRole } from '../access/access.ts'
import { readReferences } from '../access/read-references.ts'
import { type LoadBalancerReading, loadBalancerResource } from '../resources/load-balancer.ts'
import { poolReferences } from '../snapshots/references.ts'
import { specReferences } from '../to-model/create-listeners.ts'
import { isNoopPool } from '../to-model/noop-vips.ts'
import { readingMembersAhead } from '../to-model/read-ahead.ts'
import { loadBalancerDraft, ownChange, readBody, readLoadBalancer } from '../to-model/to-model.ts'
import { printObject } from '../wire/field.ts'
import { boolean } from '../wire/wire-type.ts'
import { printGraph, printStats, printStatusTree } from '../write-back/write-back.ts'
import { failOver } from './failover.ts'
import { findLoadBalancer, ownVips, snapshot } from './find.ts'
import { parseListQuery, refuseTwice } from './list-query.ts'
import { listLoadBalancers } from './load-balancer-list.ts'
import { namedOffers } from './named-offers.ts'
import { networkDirectory } from './network-directory.ts'
import { type Call, GRAPH_BODY_LIMIT_BYTES, type Route } from './route.ts'

const { fields, root } = loadBalancerResource

function show(call: Call) {
  const lb = findLoadBalancer(call, call.id, 'reader')
  const only = parseListQuery(call.query).fields
  const reading = { snapshot: snapshot(call, lb), vips: ownVips(call, lb) }
  return only === undefined ? whole(call, reading) : { [root]: printObject(fields, reading, only) }
}

function whole(call: Call, reading: LoadBalancerReading) {
  const printed = call.known.loadBalancers.print(reading)
  if (!(printed instanceof WrittenJson)) return { [root]: printed }
  return new WrittenAnswer(wholeText(printed), reading.snapshot.lb)
}

export const wholeText = ({ text }: WrittenJson): string => `{"${root}":${text}}`

async function create(call: Call) {
  requireRole(call.principal, 'member')
  const { admission, view, options } = call.context
  const spec = readLoadBalancer(call.body, await inTurns(readingMembersAhead(call.body, call.stamp), call.turn))
  const projectId = ownerOfNew(call.principal, spec.projectId)
  const refs = [...spec.listeners.flatMap(specReferences), ...spec.pools.flatMap(poolReferences)]
  await readReferences(call.context, projectId, refs)
  const providers = options.providers.map(({ name }) => name)
  const noop = options.noop ? { noopPoolId: view.list('addressPool').find(isNoopPool)!.id } : {}
  const directory = networkDirectory(view, projectId)
  const offered = namedOffers(call, projectId, spec)
  const draft = loadBalancerDraft({ spec, projectId, directory, providers, ...offered, ...noop })
  const lb = await admission.createLoadBalancer(draft, call.turn ?? undefined)
  const reading = { snapshot: snapshot(call, lb), vips: ownVips(call, lb) }
  // Without children, the answer to a creation is the load balancer as reads show it.
  return lb.listeners.length + lb.pools.length === 0
    ? whole(call, reading)
    : { [root]: printGraph(reading.snapshot, reading.vips) }
}

async function update(call: Call) {
  findLoadBalancer(call, call.id, 'member')
  const edit = readBody(loadBalancerResource, 'update', call.body, call.stamp)
  const lb = await call.context.admission.changeLoadBalancer(call.id, ownChange(edit))
  return { [root]: printObject(fields, { snapshot: snapshot(call, lb), vips: ownVips(call, lb) }) }
}

async function remove(call: Call) {
  findLoadBalancer(call, call.id, 'member')
  refuseTwice(call.query, ['cascade'])
  const cascade = boolean.queryText?.(call.query.get('cascade') ?? 'false') === 'true'
  await call.context.admission.deleteLoadBalancer(call.id, { cascade })
}

function stats(call: Call) {
  const lb = findLoadBalancer(call, call.id, 'reader')
  return printStats(
    snapshot(call, lb),
    lb.listeners.map(({ id }) => id),
  )
}

const statusTree = (call: Call) => printStatusTree(snapshot(call, findLoadBalancer(call, call.id, 'reader')))

const failover = (call: Call) => failOver(call, findLoadBalancer(call, call.id, 'admin'), null)

export const loadBalancerRoutes: readonly Route[] = [
  { method: 'GET', path: '/loadbalancers', status: 200, handle: listLoadBalancers },
  {
    method: 'POST',
    path: '/loadbalancers',
    status: 201,
    handle: create,
    bodyLimitBytes: GRAPH_BODY_LIMIT_BYTES,
  },
  { method: 'GET', path: '/loadbalancers/:id', status: 200, handle: show },
  { method: 'PUT', path: '/loadbalancers/:id', status: 200, handle: update },
  { method: 'DELETE', path: '/loadbalancers/:id', status: 204, handle: remove },
  { method: 'GET', path: '/loadbalancers/:id/stats', status: 200, handle: stats },
  { method: 'GET', path: '/loadbalancers/:id/status', status: 200, handle: statusTree },
  { method: 'GET', path: '/loadbalancers/:id/statuses', status: 200, handle: statusTree },
  { method: 'PUT', path: '/loadbalancers/:id/failover', status: 202, handle: failover },
]
