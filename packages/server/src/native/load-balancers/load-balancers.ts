import type { LoadBalancerChange, Principal, Turn, VipRequest } from '@spout/admission/contract'
import { ipText, type LoadBalancer, loadBalancer, SpoutError, uuid } from '@spout/model'
import { atOnce, inTurns, type Pieces, piecesOf } from '@spout/runtime'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { mayKnow, projectForNew } from '../../authn/access.ts'
import { queryValue } from '../../http/query.ts'
import { listenerDraft, poolDraft } from '../drafts/load-balancer-draft.ts'
import { Parts } from '../drafts/parts.ts'
import { explain } from '../explain/explain.ts'
import { changeOf } from '../operations/change-of.ts'
import { type Collection, find } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { etagOf, shownLoadBalancer } from '../operations/shown.ts'
import { readRoutes } from '../watches/read-routes.ts'
import { presentRequests } from './present-requests.ts'

const vipRequest = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('pool'), poolId: uuid, address: ipText.nullable().default(null) }),
  z.strictObject({
    from: z.literal('subnet'),
    networkId: uuid,
    subnetId: uuid,
    address: ipText.nullable().default(null),
  }),
  z.strictObject({ from: z.literal('port'), portId: uuid }),
]) satisfies z.ZodType<VipRequest>

const { shape } = loadBalancer
const changeable = {
  name: shape.name.default(''),
  description: shape.description.default(''),
  tags: shape.tags.default([]),
  enabled: z.boolean().default(true),
  listeners: z.array(listenerDraft).max(1000).default([]),
  pools: z.array(poolDraft).max(1000).default([]),
  annotations: shape.annotations.default({}),
  /** Absent: they stay. */
  securityGroupIds: shape.securityGroupIds,
  dnsNames: shape.dnsNames,
  dnsTtlSeconds: shape.dnsTtlSeconds,
}

/** The load balancer's own fields. Its parts have their own paths. */
const change = changeOf(z.strictObject(changeable).omit({ listeners: true, pools: true }))

export const creation = z.strictObject({
  ...changeable,
  /** Chosen by the caller, so that a creation can be retried when its answer was lost; else generated. */
  id: uuid.optional(),
  projectId: uuid.optional(),
  vips: z.array(vipRequest).min(1).max(16),
  nodeGroupId: shape.nodeGroupId.default(null),
  classId: shape.classId,
})

/** The whole document as it was read. Read-only fields may be included, but must be unchanged. */
const replacement = z.strictObject({
  ...changeable,
  id: uuid.optional(),
  projectId: uuid.optional(),
  vips: shape.vips.optional(),
  networkId: uuid.nullable().optional(),
  nodeGroupId: uuid.nullable().optional(),
  classId: shape.classId,
  zoneId: shape.zoneId,
  leftNodeId: shape.leftNodeId,
  localName: shape.localName,
  generation: z.number().optional(),
  createdAt: z.string().optional(),
  updatedAt: z.string().nullable().optional(),
  status: z.unknown().optional(),
})

export const LOAD_BALANCERS: Collection<'loadBalancer'> = {
  kind: 'loadBalancer',
  path: '/load-balancers',
  what: 'Load balancer',
  access: 'reader',
  schema: loadBalancer,
  ofProject: true,
  visible: (principal, object) => mayKnow(principal, object.projectId),
  show: shownLoadBalancer,
}

const tag = 'load-balancers'

export const loadBalancerRoutes: readonly Route[] = [
  ...readRoutes(LOAD_BALANCERS),
  route({
    method: 'POST',
    path: '/load-balancers',
    tag,
    summary: 'Create a load balancer with everything in it',
    access: 'member',
    body: creation,
    takesDocument: true,
    answer: { status: 201, schema: loadBalancer },
    previews: true,
    handle: async (context, { principal, body, reply, turn }) => {
      const created = await createOwn(context, principal, body, turn)
      reply.header('etag', etagOf(created)).header('location', `/api/v1/load-balancers/${created.id}`)
      return shownLoadBalancer(context, created)
    },
  }),
  route({
    method: 'PUT',
    path: '/load-balancers/:id',
    tag,
    summary: 'Replace a load balancer; with If-Match only the version that was read',
    access: 'member',
    body: replacement,
    takesDocument: true,
    answer: { status: 200, schema: loadBalancer },
    previews: true,
    handle: async (context, call) => {
      const { body, request } = call
      const now = context.clock.now().toISOString()
      const changed = await changeOwn(context, call, function* (current) {
        requireVersion(request, current)
        refuseChangedIdentity(current, body)
        const parts = new Parts(current, now, monitorDefaultsOf(context, current))
        const pools = yield* parts.pools(body.pools)
        const { name, description, tags, enabled, annotations } = body
        const listeners = yield* parts.listeners(body.listeners, pools)
        const { securityGroupIds, dnsNames, dnsTtlSeconds } = body
        const said = {
          ...(securityGroupIds && { securityGroupIds }),
          ...(dnsNames && { dnsNames }),
          ...(dnsTtlSeconds !== undefined && { dnsTtlSeconds }),
        }
        return { name, description, tags, enabled, annotations, pools, listeners, ...said }
      })
      call.reply.header('etag', etagOf(changed))
      return shownLoadBalancer(context, changed)
    },
  }),
  route({
    method: 'PATCH',
    path: '/load-balancers/:id',
    tag,
    summary: 'Change a load balancer; absent fields stay',
    access: 'member',
    body: change,
    answer: { status: 200, schema: loadBalancer },
    previews: true,
    handle: async (context, call) => {
      const changed = await changeOwn(context, call, (current) => {
        requireVersion(call.request, current)
        return call.body as LoadBalancerChange
      })
      call.reply.header('etag', etagOf(changed))
      return shownLoadBalancer(context, changed)
    },
  }),
  route({
    method: 'DELETE',
    path: '/load-balancers/:id',
    tag,
    summary: 'Delete a load balancer',
    access: 'member',
    query: { cascade: 'false refuses while it has listeners or pools; true is the default' },
    body: null,
    answer: { status: 204, schema: null },
    previews: true,
    handle: async (context, { principal, params, request }) => {
      const { id } = find(LOAD_BALANCERS, context, principal, params.id ?? '')
      await context.loadBalancers.deleteLoadBalancer(id, { cascade: queryValue(request, 'cascade') !== 'false' })
    },
  }),
  route({
    method: 'POST',
    path: '/load-balancers/:id/vips',
    tag,
    summary: 'Add an address of a pool',
    access: 'member',
    body: z.strictObject({ from: z.literal('pool'), poolId: uuid, address: ipText.nullable().default(null) }),
    answer: { status: 201, schema: loadBalancer },
    previews: true,
    handle: async (context, { principal, params, body }) => {
      const { id } = find(LOAD_BALANCERS, context, principal, params.id ?? '')
      return shownLoadBalancer(context, await context.loadBalancers.addVip(id, body))
    },
  }),
  route({
    method: 'DELETE',
    path: '/load-balancers/:id/vips/:address',
    tag,
    summary: 'Remove an address other than the first',
    access: 'member',
    body: null,
    answer: { status: 200, schema: loadBalancer },
    previews: true,
    handle: async (context, { principal, params }) => {
      const { id } = find(LOAD_BALANCERS, context, principal, params.id ?? '')
      return shownLoadBalancer(context, await context.loadBalancers.removeVip(id, params.address ?? ''))
    },
  }),
  route({
    method: 'GET',
    path: '/load-balancers/:id/requests',
    tag,
    summary: 'Requests by pool and by route, by id of the listeners that count how long requests take',
    access: 'reader',
    body: null,
    answer: { status: 200, schema: z.record(z.string(), z.unknown()) },
    handle: (context, { principal, params }) =>
      presentRequests(context, find(LOAD_BALANCERS, context, principal, params.id ?? '')),
  }),
  route({
    method: 'GET',
    path: '/load-balancers/:id/explain',
    tag,
    summary: 'Explain its state: addresses, owner, listeners, pools, members, confirmations',
    access: 'reader',
    body: null,
    answer: { status: 200, schema: z.record(z.string(), z.unknown()) },
    handle: (context, { principal, params }) =>
      explain(context, find(LOAD_BALANCERS, context, principal, params.id ?? '')),
  }),
]

/** Defaults for health monitors of the load balancer's class; null: the usual ones. */
export const monitorDefaultsOf = ({ view }: NativeContext, { classId }: Pick<LoadBalancer, 'classId'>) =>
  view.get('loadBalancerClass', classId ?? '')?.value.monitor ?? null

/** Creates a load balancer in the caller's project. An administrator may name another. @param turn for a long body */
export async function createOwn(
  context: NativeContext,
  principal: Principal,
  body: z.output<typeof creation>,
  turn: Turn | null,
): Promise<LoadBalancer> {
  const projectId = projectForNew(principal, body.projectId, 'balancer')
  const now = context.clock.now().toISOString()
  const parts = new Parts({ listeners: [], pools: [] }, now, monitorDefaultsOf(context, body))
  const pools = await inTurns(parts.pools(body.pools), turn)
  const listeners = await inTurns(parts.listeners(body.listeners, pools), turn)
  return context.loadBalancers.createLoadBalancer({ ...body, projectId, pools, listeners }, turn ?? undefined)
}

type Change = (current: LoadBalancer) => LoadBalancerChange | Pieces<LoadBalancerChange>

/** Changes a load balancer that the caller may know of; in pieces for a request with a long body. */
export function changeOwn(
  context: NativeContext,
  { principal, params, turn }: Pick<Call<unknown>, 'principal' | 'params' | 'turn'>,
  change: Change,
): Promise<LoadBalancer> {
  const { id } = find(LOAD_BALANCERS, context, principal, params.id ?? '')
  const making = (current: LoadBalancer) => piecesOf(change(current))
  return turn === null
    ? context.loadBalancers.changeLoadBalancer(id, (current) => atOnce(making(current)))
    : context.loadBalancers.changeLongLoadBalancer(id, making, turn)
}

/** @throws SpoutError VersionMismatch when `If-Match` names another version */
export function requireVersion(request: FastifyRequest, current: LoadBalancer): void {
  const wanted = request.headers['if-match']
  if (wanted === undefined || wanted === '*' || wanted === etagOf(current)) return
  throw new SpoutError('VersionMismatch', { what: 'Load balancer', id: current.id })
}

/** Fields that a replacement may repeat, but not change. */
const FIXED = [
  'id',
  'projectId',
  'networkId',
  'nodeGroupId',
  'classId',
  'zoneId',
  'leftNodeId',
  'localName',
  'createdAt',
] as const

function refuseChangedIdentity(current: LoadBalancer, body: z.output<typeof replacement>): void {
  for (const field of FIXED)
    if (body[field] !== undefined && body[field] !== current[field]) throw new SpoutError('ImmutableField', { field })
  const addresses = (vips: LoadBalancer['vips']) => vips.map((vip) => vip.addressId).join()
  if (body.vips !== undefined && addresses(body.vips) !== addresses(current.vips))
    throw new SpoutError('ImmutableField', { field: 'vips' })
}
