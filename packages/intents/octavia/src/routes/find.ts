import type { ChildRef } from '@spout/admission/contract'
import type { LoadBalancer, Vip } from '@spout/model'
import { listScope, type Persona, requireProject, requireRole } from '../access/access.ts'
import { type Snapshot, snapshotOf } from '../snapshots/snapshot.ts'
import { shownVips } from '../to-model/noop-vips.ts'
import { notFound, OctaviaFault } from '../wire/fault.ts'
import type { Call } from './route.ts'

/**
 * Finds objects for the caller. Objects of other projects are 403, as in Octavia. This does reveal that an object
 * exists, but its id is random, so only somebody who was told the id can ask.
 */

/** @throws OctaviaFault 404; 403 without the role, or for another project's load balancer */
export function findLoadBalancer(call: Pick<Call, 'context' | 'principal'>, id: string, role: Persona): LoadBalancer {
  requireRole(call.principal, role)
  const lb = call.context.view.get('loadBalancer', id)?.value
  if (lb === undefined) throw notFound('Load Balancer', id)
  requireProject(call.principal, role, lb.projectId)
  return lb
}

export interface FoundChild {
  readonly lb: LoadBalancer
  readonly ref: ChildRef
}

const CHILD_WORDS: Readonly<Record<ChildRef['kind'], string>> = {
  listener: 'Listener',
  pool: 'Pool',
  member: 'Member',
  healthMonitor: 'Health Monitor',
  // Octavia shows routes as policies.
  route: 'L7 Policy',
}

/** @throws OctaviaFault 404; 403 without the role, or for another project's object */
export function findChild(call: Call, kind: ChildRef['kind'], id: string, role: Persona): FoundChild {
  requireRole(call.principal, role)
  const ref = call.context.view.child(id)
  const lb = ref?.kind === kind ? call.context.view.get('loadBalancer', ref.loadBalancerId)?.value : undefined
  if (ref === null || lb === undefined) throw notFound(CHILD_WORDS[kind], id)
  requireProject(call.principal, role, lb.projectId)
  return { lb, ref }
}

/** Finds a member of the pool that the path names. @throws OctaviaFault 404; 403 as for the pool */
export function findMember(call: Call, role: Persona): FoundChild {
  findChild(call, 'pool', call.id, role)
  const found = findChild(call, 'member', call.childId, role)
  if (found.ref.poolId !== call.id) throw notFound('Member', call.childId)
  return found
}

export const snapshot = ({ context, known }: Pick<Call, 'context' | 'known'>, lb: LoadBalancer): Snapshot =>
  snapshotOf(lb, context.status.loadBalancer(lb.id), known.pools)

/** The project that a list is limited to; null for all. @throws OctaviaFault 403 */
export const listedProject = ({ principal, query }: Call): string | null =>
  listScope(principal, 'reader', query.get('project_id') ?? query.get('tenant_id'))

/**
 * The load balancers for a list: those of the project, narrowed when the query names one.
 * @throws OctaviaFault 403
 */
export function listed(call: Call): readonly Snapshot[] {
  const { view } = call.context
  const projectId = listedProject(call)
  const named = call.query.get('loadbalancer_id') ?? view.child(call.query.get('id') ?? '')?.loadBalancerId ?? null
  const lbs =
    named === null
      ? view.list('loadBalancer', projectId === null ? {} : { projectId })
      : [view.get('loadBalancer', named)?.value].flatMap((lb) =>
          lb !== undefined && (projectId === null || lb.projectId === projectId) ? [lb] : [],
        )
  return lbs.map((lb) => snapshot(call, lb))
}

/** Leaves out floating addresses, which the network service binds and shows. The first VIP is never one. */
export function ownVips({ context }: Pick<Call, 'context'>, lb: LoadBalancer): readonly Vip[] {
  const vips = shownVips(lb)
  if (vips.length === 1) return vips
  return vips.filter(({ addressId }) => context.view.addressByPort(addressId)?.use !== 'floating')
}

/** The object that was just written. It is missing only if another request has deleted it since. */
export function justWritten<T extends { readonly model: { readonly id: string } }>(items: readonly T[], id: string): T {
  const found = items.find(({ model }) => model.id === id)
  if (found === undefined) throw new OctaviaFault(409, `${id} was deleted at the same time.`)
  return found
}
