import { ANNOUNCER_NAMES } from '@spout/model'
import { z } from 'zod'
import { isAdmin } from '../../authn/access.ts'
import { queryValue } from '../../http/query.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { explainVip } from './explain-vip.ts'
import { announcersOf, type KnownVip, knownVips, theVip, wayOf } from './known-vip.ts'

const shownMove = z.strictObject({
  at: z.string(),
  event: z.enum(['taken', 'released']),
  node: z.string(),
  from: z.string().nullable(),
  reason: z.string().nullable(),
  durationMs: z.number().nullable(),
})
const shownVip = z.strictObject({
  address: z.string(),
  scope: z.enum(['fabric', 'tenant']),
  projectId: z.string(),
  projectName: z.string().nullable(),
  loadBalancerId: z.string(),
  loadBalancerName: z.string(),
  nodeGroup: z.string().nullable(),
  announcer: z.enum(ANNOUNCER_NAMES),
  shard: z.number().nullable(),
  state: z.enum(['announced', 'not-announced', 'two-owners']),
  /** Names of the nodes that announce it. */
  owners: z.array(z.string()),
  lastMove: shownMove.nullable(),
})

const tag = 'vips'
const byAddress = {
  loadBalancer: 'The load balancer that has it, where projects use one address twice',
  project: 'The project that has it, where projects use one address twice',
} as const

/** The node that announces each VIP. Tenants see their own VIPs. */
export const vipRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/vips',
    tag,
    summary: 'Every address of a load balancer: who announces it, how, and its last move',
    access: 'reader',
    query: { project: 'Only addresses of this project', node: 'Only what this node announces: its name or id' },
    body: null,
    answer: { status: 200, schema: shownVip, list: true },
    handle: (context, call) => {
      const node = queryValue(call.request, 'node')
      const project = queryValue(call.request, 'project')
      const name = context.view.list('node').find((known) => known.id === node)?.name ?? node
      return {
        items: knownVips(context, call)
          .filter(({ loadBalancer }) => project === null || loadBalancer.projectId === project)
          .map((vip) => show(context, call, vip))
          .filter(({ owners }) => name === null || owners.includes(name)),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/vips/:address',
    tag,
    summary: 'Show an address of a load balancer',
    access: 'reader',
    query: byAddress,
    body: null,
    answer: { status: 200, schema: shownVip },
    handle: (context, call) => show(context, call, theVip(context, call)),
  }),
  route({
    method: 'GET',
    path: '/vips/:address/history',
    tag,
    summary: 'The moves of an address, oldest first, since the control plane started; only the newest ones are kept',
    access: 'reader',
    query: byAddress,
    body: null,
    answer: { status: 200, schema: shownMove, list: true },
    handle: (context, call) => ({ items: moves(context, theVip(context, call)) }),
  }),
  route({
    method: 'GET',
    path: '/vips/:address/explain',
    tag,
    summary: 'Why an address is announced where it is, or is not',
    access: 'reader',
    query: byAddress,
    body: null,
    answer: { status: 200, schema: z.record(z.string(), z.unknown()) },
    handle: (context, call) => {
      const vip = theVip(context, call)
      return { ...show(context, call, vip), ...explainVip(context, vip, isAdmin(call.principal)) }
    },
  }),
]

type Who = Pick<Call<unknown>, 'principal'>

function moves(context: NativeContext, { loadBalancer, vip }: KnownVip): z.output<typeof shownMove>[] {
  const nameOf = (id: string): string => context.view.get('node', id)?.value.name ?? id
  return context.ownership
    .history(loadBalancer.id, vip.address)
    .map(({ at, event, nodeId, fromNodeId, reason, durationMs }) => ({
      at,
      event,
      node: nameOf(nodeId),
      from: fromNodeId === null ? null : nameOf(fromNodeId),
      reason,
      durationMs,
    }))
}

function show(context: NativeContext, { principal }: Who, known: KnownVip): z.output<typeof shownVip> {
  const { loadBalancer, vip, group } = known
  const { announcer, shard } = wayOf(context, known)
  const owners = announcersOf(context, known)
  const alarm = shard !== null && context.ownership.shard(shard.nodeGroupId, shard.number)?.state === 'two-owners'
  return {
    address: vip.address,
    scope: vip.scope,
    projectId: loadBalancer.projectId,
    projectName: isAdmin(principal) ? (context.view.get('project', loadBalancer.projectId)?.value.name ?? null) : null,
    loadBalancerId: loadBalancer.id,
    loadBalancerName: loadBalancer.name,
    nodeGroup: group?.name ?? null,
    announcer,
    shard: shard?.number ?? null,
    state: alarm ? 'two-owners' : owners.length > 0 ? 'announced' : 'not-announced',
    owners: [...owners].sort(),
    lastMove: moves(context, known).at(-1) ?? null,
  }
}
