import { addressPoolChange, type VipRequest } from '@spout/admission/contract'
import {
  address,
  addressPool,
  ipText,
  MOST_NETWORK_ROUTES,
  network,
  networkRoute,
  SpoutError,
  subnet,
  uuid,
} from '@spout/model'
import { z } from 'zod'
import { isAdmin, mayKnow, projectForNew } from '../../authn/access.ts'
import { adminRoutes } from '../operations/admin-routes.ts'
import { type Collection, find } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { readRoutes } from '../watches/read-routes.ts'
import { createNetwork } from './new-network.ts'

const named = { name: z.string().max(255).default(''), description: z.string().max(255).default('') }

export const NETWORKS: Collection<'network'> = {
  kind: 'network',
  path: '/networks',
  what: 'Network',
  access: 'reader',
  schema: network,
  ofProject: true,
  visible: (principal, object) => mayKnow(principal, object.projectId),
  show: (_context, object) => object,
}

export const ADDRESS_POOLS: Collection<'addressPool'> = {
  kind: 'addressPool',
  path: '/address-pools',
  what: 'Address pool',
  access: 'reader',
  schema: addressPool,
  visible: (principal, object) =>
    isAdmin(principal) || object.projectIds === null || object.projectIds.includes(principal.projectId ?? ''),
  show: (_context, object) => object,
}

/** Clients know an address by its port id. Its own id is internal and contains an address. */
export const ADDRESSES: Collection<'address'> = {
  kind: 'address',
  path: '/addresses',
  what: 'Address',
  access: 'reader',
  schema: address,
  visible: (principal, object) =>
    mayKnow(principal, object.projectId) && (isAdmin(principal) || object.quarantineUntil === null),
  publicId: (object) => object.portId,
  show: (_context, { id: _, ...object }) => ({ ...object, id: object.portId }),
}

const addressRequest = z.strictObject({
  ...named,
  projectId: uuid.optional(),
  use: z.enum(['port', 'floating']).default('port'),
  poolId: uuid.optional(),
  networkId: uuid.optional(),
  subnetId: uuid.optional(),
  address: ipText.nullable().default(null),
})

const pools = adminRoutes(ADDRESS_POOLS)

export const networkRoutes: readonly Route[] = [
  ...readRoutes(NETWORKS),
  route({
    method: 'POST',
    path: '/networks',
    tag: 'networks',
    summary: 'Create a tenant network; only an administrator chooses its segment and return path',
    access: 'member',
    body: z.strictObject({
      ...named,
      projectId: uuid.optional(),
      returnPath: network.shape.returnPath.optional(),
      segment: network.shape.segment.optional(),
    }),
    answer: { status: 201, schema: network },
    handle: (context, { principal, body }) => {
      for (const field of ['returnPath', 'segment'] as const)
        if (body[field] !== undefined && !isAdmin(principal))
          throw new SpoutError('Forbidden', { reason: `only an administrator may set ${field}` })
      return createNetwork(context, principal, {
        name: body.name,
        description: body.description,
        projectId: projectForNew(principal, body.projectId),
        returnPath: body.returnPath ?? null,
        segment: body.segment ?? null,
      })
    },
  }),
  route({
    method: 'DELETE',
    path: '/networks/:id',
    tag: 'networks',
    summary: 'Delete a network',
    access: 'member',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, call) => context.admission.deleteNetwork(ownNetwork(context, call)),
  }),
  route({
    method: 'POST',
    path: '/networks/:id/subnets',
    tag: 'networks',
    summary: 'Add a subnet',
    access: 'member',
    body: z.strictObject({
      ...named,
      cidr: subnet.shape.cidr,
      gatewayIp: subnet.shape.gatewayIp.default(null),
      nodeRange: subnet.shape.nodeRange.default(null),
      reach: subnet.shape.reach,
    }),
    answer: { status: 201, schema: subnet },
    handle: (context, call) => context.admission.addSubnet(ownNetwork(context, call), call.body),
  }),
  route({
    method: 'DELETE',
    path: '/networks/:id/subnets/:part',
    tag: 'networks',
    summary: 'Remove a subnet',
    access: 'member',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, call) => context.admission.removeSubnet(ownNetwork(context, call), call.params.part ?? ''),
  }),
  route({
    method: 'PUT',
    path: '/networks/:id/routes',
    tag: 'networks',
    summary: 'Replace the routes to members behind routers of the segment',
    access: 'member',
    body: z.strictObject({ routes: z.array(networkRoute).max(MOST_NETWORK_ROUTES) }),
    answer: { status: 200, schema: network },
    handle: (context, call) => context.admission.setNetworkRoutes(ownNetwork(context, call), call.body.routes),
  }),
  ...readRoutes(ADDRESS_POOLS),
  pools.create(
    'Create a pool of public addresses',
    z.strictObject({
      ...named,
      ranges: addressPool.shape.ranges,
      cidr: addressPool.shape.cidr,
      gatewayIp: addressPool.shape.gatewayIp.default(null),
      projectIds: addressPool.shape.projectIds.default(null),
      quarantineSeconds: addressPool.shape.quarantineSeconds.default(300),
      draining: addressPool.shape.draining,
    }),
    ({ admission }, draft) => admission.createAddressPool(draft),
  ),
  pools.change(
    'Drain a pool, so that it gives out no new addresses, or end that; addresses in use stay',
    addressPoolChange,
    ({ admission }, id, change) => admission.changeAddressPool(id, change),
  ),
  pools.delete('Delete a pool without addresses in use', ({ admission }, id) => admission.deleteAddressPool(id)),
  ...readRoutes(ADDRESSES).filter((read) => read.path === '/addresses'),
  route({
    method: 'GET',
    path: '/addresses/:id',
    tag: 'addresses',
    summary: 'Show: address',
    access: 'reader',
    body: null,
    answer: { status: 200, schema: address },
    handle: (context, call) => ADDRESSES.show(context, ownAddress(context, call)),
  }),
  route({
    method: 'POST',
    path: '/addresses',
    tag: 'addresses',
    summary: 'Reserve an address of a pool or a subnet',
    access: 'member',
    body: addressRequest,
    answer: { status: 201, schema: address },
    handle: async (context, { principal, body }) => {
      const projectId = projectForNew(principal, body.projectId)
      const words = { name: body.name, description: body.description }
      const reserved = await context.admission.reserveAddress(projectId, vipRequestOf(body), body.use, words)
      return ADDRESSES.show(context, reserved)
    },
  }),
  route({
    method: 'PUT',
    path: '/addresses/:id/binding',
    tag: 'addresses',
    summary: 'Bind a floating address to the load balancer whose VIP has this port; null unbinds it',
    access: 'member',
    body: z.strictObject({ targetPortId: uuid.nullable() }),
    answer: { status: 200, schema: address },
    handle: async (context, call) => {
      const { targetPortId } = call.body
      if (targetPortId !== null && !knowsPort(context, call, targetPortId))
        throw new SpoutError('ReferenceNotFound', { field: 'targetPortId', what: 'Address', id: targetPortId })
      const bound = await context.admission.bindFloating(ownAddress(context, call).portId, targetPortId)
      return ADDRESSES.show(context, bound)
    },
  }),
  route({
    method: 'DELETE',
    path: '/addresses/:id',
    tag: 'addresses',
    summary: 'Release an address',
    access: 'member',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, call) => context.admission.releaseAddress(ownAddress(context, call).portId),
  }),
]

type Who = Pick<Call<unknown>, 'principal' | 'params'>

const ownNetwork = (context: NativeContext, { principal, params }: Who): string =>
  find(NETWORKS, context, principal, params.id ?? '').id

function ownAddress(context: NativeContext, { principal, params }: Who) {
  const id = params.id ?? ''
  const found = context.view.addressByPort(id)
  if (found === null || !ADDRESSES.visible(principal, found)) throw new SpoutError('NotFound', { what: 'Address', id })
  return found
}

function knowsPort(context: NativeContext, { principal }: Who, portId: string): boolean {
  const found = context.view.addressByPort(portId)
  return found !== null && ADDRESSES.visible(principal, found)
}

function vipRequestOf(body: z.output<typeof addressRequest>): VipRequest {
  const { poolId, networkId, subnetId, address } = body
  if (poolId !== undefined && networkId !== undefined)
    throw new SpoutError('InvalidField', { field: 'networkId', reason: 'cannot be combined with poolId' })
  if (poolId !== undefined) return { from: 'pool', poolId, address } as const
  if (networkId !== undefined && subnetId !== undefined)
    return { from: 'subnet', networkId, subnetId, address } as const
  if (networkId !== undefined) throw new SpoutError('MissingField', { field: 'subnetId' })
  throw new SpoutError('MissingField', { field: 'poolId' })
}
