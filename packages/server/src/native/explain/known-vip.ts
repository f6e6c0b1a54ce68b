import type { ObjectOf } from '@spout/admission/contract'
import {
  ANNOUNCER_WITHOUT_GROUP,
  announcerNamed,
  defaultGroupOf,
  ipText,
  LOCAL_ANNOUNCER,
  type LoadBalancer,
  parseAs,
  SpoutError,
} from '@spout/model'
import { needsSymmetricPath } from '@spout/plan'
import { mayKnow } from '../../authn/access.ts'
import { queryValue } from '../../http/query.ts'
import type { NativeContext } from '../operations/context.ts'
import type { Call } from '../operations/route.ts'

/** A VIP that the caller may know of, with its load balancer. */
export interface KnownVip {
  readonly loadBalancer: LoadBalancer
  readonly vip: LoadBalancer['vips'][number]
  readonly group: ObjectOf<'nodeGroup'> | null
}

/** Every VIP that the caller may know of. */
export function knownVips(
  context: NativeContext,
  { principal }: Pick<Call<unknown>, 'principal'>,
): readonly KnownVip[] {
  const standard = standardGroup(context)
  return context.view
    .list('loadBalancer')
    .filter(({ projectId }) => mayKnow(principal, projectId))
    .flatMap((loadBalancer) => vipsOf(context, loadBalancer, standard))
}

const standardGroup = ({ view }: NativeContext): KnownVip['group'] => defaultGroupOf(view.list('nodeGroup'))

/** The VIPs of one load balancer. */
export function vipsOf(
  context: NativeContext,
  loadBalancer: LoadBalancer,
  standard = standardGroup(context),
): readonly KnownVip[] {
  const { nodeGroupId, vips } = loadBalancer
  const group = nodeGroupId === null ? standard : (context.view.get('nodeGroup', nodeGroupId)?.value ?? null)
  return vips.map((vip) => ({ loadBalancer, vip, group }))
}

/** @throws SpoutError NotFound, or InvalidField when several load balancers have it */
export function theVip(context: NativeContext, call: Call<unknown>): KnownVip {
  const address = parseAs(ipText, call.params.address ?? '', 'address')
  const wanted = queryValue(call.request, 'loadBalancer')
  const project = queryValue(call.request, 'project')
  const found = knownVips(context, call).filter(
    ({ vip, loadBalancer }) =>
      vip.address === address &&
      (project === null || loadBalancer.projectId === project) &&
      (wanted === null || loadBalancer.id === wanted || loadBalancer.name === wanted),
  )
  const [first, second] = found
  if (first === undefined) throw new SpoutError('NotFound', { what: 'VIP', id: address })
  if (second !== undefined)
    throw new SpoutError('InvalidField', {
      field: 'loadBalancer',
      reason: `${found.length} load balancers have ${address}: say which`,
    })
  return first
}

/** Names of the nodes that announce it. If it follows a shard, only the shard's masters count. */
export function announcersOf(context: NativeContext, known: KnownVip): readonly string[] {
  const { nodes } = context.status.loadBalancer(known.loadBalancer.id)
  const ready = nodes.filter(({ announced }) => announced.includes(known.vip.address))
  const { shard } = wayOf(context, known)
  if (shard === null) return ready.map(({ nodeName }) => nodeName)
  const masters = context.ownership.shard(shard.nodeGroupId, shard.number)?.masterNodeIds ?? []
  return ready.filter(({ nodeId }) => masters.includes(nodeId)).map(({ nodeName }) => nodeName)
}

/**
 * How the address is announced, and the shard whose master does it; no shard if every node does. In a BGP group, the
 * master of a VRRP shard announces a VIP on a tenant network. A VIP that needs a symmetric path is announced by BGP,
 * from its shard's master alone. Those of nodes' own settings follow a shard that is not the group's.
 */
export function wayOf(context: NativeContext, { loadBalancer, vip, group }: KnownVip) {
  if (loadBalancer.localName !== undefined) return { announcer: LOCAL_ANNOUNCER, shard: null } as const
  const shard = context.view.get('placement', loadBalancer.id)?.value.shard ?? null
  const announcer = group?.announcer ?? ANNOUNCER_WITHOUT_GROUP
  const { announcedBy, electedBy } = announcerNamed(announcer)
  if (announcedBy === 'every-node' && vip.scope === 'fabric') {
    const network =
      loadBalancer.networkId === null ? undefined : context.view.get('network', loadBalancer.networkId)?.value
    const symmetric = network !== undefined && needsSymmetricPath(loadBalancer, network)
    return { announcer, shard: symmetric && shard !== null ? { ...shard } : null } as const
  }
  return electedBy === null || shard === null
    ? ({ announcer, shard: null } as const)
    : ({ announcer: electedBy, shard: { ...shard } } as const)
}
