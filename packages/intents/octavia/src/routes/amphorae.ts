import { uuid } from '@spout/model'
import { requireRole } from '../access/access.ts'
import { amphoraResource } from '../resources/amphora.ts'
import { type Amphora, amphoraeOf, loadBalancerIdsOf } from '../snapshots/amphorae.ts'
import { notFound, OctaviaFault } from '../wire/fault.ts'
import { dashedUuid } from '../wire/wire-type.ts'
import { printAmphoraStats } from '../write-back/write-back.ts'
import { failOver } from './failover.ts'
import { ownVips } from './find.ts'
import { readRoutes } from './read-routes.ts'
import type { Call, Route } from './route.ts'

const { word } = amphoraResource

/** The amphorae of one load balancer; none if it does not exist. */
function amphorae(call: Call, loadBalancerId: string): readonly Amphora[] {
  const lb = call.context.view.get('loadBalancer', loadBalancerId)?.value
  return lb === undefined ? [] : amphoraeOf(lb, ownVips(call, lb)[0], call.context)
}

/** The oldest first. */
function list(call: Call): readonly Amphora[] {
  requireRole(call.principal, 'admin')
  const named = call.query.get('loadbalancer_id') ?? call.query.get('load_balancer_id')
  const ids = named === null ? call.context.view.list('loadBalancer').map(({ id }) => id) : [dashedUuid(named)]
  return ids.flatMap((id) => amphorae(call, id)).sort((a, b) => order(a.createdAt, b.createdAt) || order(a.id, b.id))
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** @throws OctaviaFault 403, 404 */
function find(call: Call): Amphora {
  requireRole(call.principal, 'admin')
  const id = dashedUuid(call.id)
  const owners = uuid.safeParse(id).success ? loadBalancerIdsOf(id, call.context.view.list('node')) : []
  const found = owners.flatMap((loadBalancerId) => amphorae(call, loadBalancerId)).find((one) => one.id === id)
  if (found === undefined) throw notFound(word, call.id)
  return found
}

function stats(call: Call) {
  const amphora = find(call)
  const { loadBalancer, nodeId } = amphora
  if (loadBalancer.listeners.length === 0) throw notFound('Amphora stats for', call.id)
  return printAmphoraStats(amphora, call.context.status.nodeStats(nodeId, loadBalancer.id))
}

/** Does nothing: a node applies every change at once, so its configuration is never out of date. */
function configure(call: Call): void {
  find(call)
}

async function failover(call: Call): Promise<void> {
  const { loadBalancer, nodeId } = find(call)
  await failOver(call, loadBalancer, nodeId)
}

/** Refuses: Octavia deletes only amphorae that no load balancer uses, and here every amphora is in use. */
function remove(call: Call): never {
  const { id } = find(call)
  throw new OctaviaFault(409, `${word} ${id} is immutable and cannot be updated.`)
}

export const amphoraRoutes: readonly Route[] = [
  ...readRoutes(amphoraResource, { path: '/amphorae', links: 'amphorae_links', list, find }),
  { method: 'GET', path: '/amphorae/:id/stats', status: 200, handle: stats },
  { method: 'PUT', path: '/amphorae/:id/config', status: 202, handle: configure },
  { method: 'PUT', path: '/amphorae/:id/failover', status: 202, handle: failover },
  { method: 'DELETE', path: '/amphorae/:id', status: 204, handle: remove },
]
