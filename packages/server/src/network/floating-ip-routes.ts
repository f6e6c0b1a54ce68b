import type { Principal } from '@spout/admission/contract'
import { type Address, parseAs, SpoutError, uuid } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { projectForNew, requireRole } from '../authn/access.ts'
import { refuseChosenId } from './chosen-id.ts'
import type { NetworkContext } from './context.ts'
import { listing, narrowed } from './listing.ts'
import { addressesOf, networkOrPool, ownAddress } from './scope.ts'
import { shownFloatingIp } from './shown.ts'

const text = z.string().max(255)
const ip = z.string().max(64)

const floatingDraft = z.strictObject({
  floatingip: z.strictObject({
    id: uuid.optional(),
    description: text.default(''),
    project_id: uuid.optional(),
    tenant_id: uuid.optional(),
    floating_network_id: uuid,
    floating_ip_address: ip.optional(),
    subnet_id: uuid.nullish(),
    port_id: uuid.nullish(),
    fixed_ip_address: ip.nullish(),
  }),
})
const floatingChange = z.strictObject({
  floatingip: z.strictObject({
    description: text.optional(),
    port_id: uuid.nullish(),
    fixed_ip_address: ip.nullish(),
  }),
})

type Draft = z.output<typeof floatingDraft>['floatingip']
type Change = z.output<typeof floatingChange>['floatingip']
type ById = { Params: { id: string } }

/** Floating IPs: addresses of pools, each of which leads to a port or to none. */
export function floatingIpRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission, authenticate, view } = context

  scope.get('/v2.0/floatingips', async (request) => {
    const principal = await authenticate(request)
    const floating = addressesOf(context, principal).filter((address) => address.use === 'floating')
    return listing(
      request,
      'floatingips',
      floating.map((address) => shownFloatingIp(view, address)),
    )
  })

  scope.get<ById>('/v2.0/floatingips/:id', async (request) => {
    const principal = await authenticate(request)
    const address = ownAddress(context, principal, request.params.id, 'FloatingIP')
    return { floatingip: narrowed(request, shownFloatingIp(view, address)) }
  })

  scope.post('/v2.0/floatingips', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { floatingip: wanted } = parseAs(floatingDraft, request.body)
    const floating = await createFloating(context, principal, wanted)
    return reply.code(201).send({ floatingip: shownFloatingIp(view, floating) })
  })

  scope.put<ById>('/v2.0/floatingips/:id', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const floating = ownAddress(context, principal, request.params.id, 'FloatingIP')
    const { floatingip: change } = parseAs(floatingChange, request.body)
    return { floatingip: shownFloatingIp(view, await changeFloating(context, principal, floating, change)) }
  })

  scope.delete<ById>('/v2.0/floatingips/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const floating = ownAddress(context, principal, request.params.id, 'FloatingIP')
    await settled(context, [portOf(context, floating)], () => admission.releaseAddress(floating.portId))
    return reply.code(204).send()
  })
}

async function createFloating(context: NetworkContext, principal: Principal, wanted: Draft): Promise<Address> {
  const { admission } = context
  refuseChosenId(principal, 'floatingip', wanted.id)
  const projectId = projectForNew(principal, wanted.project_id ?? wanted.tenant_id)
  const found = networkOrPool(context, principal, wanted.floating_network_id)
  if (!('pool' in found))
    throw new SpoutError('InvalidField', {
      field: 'floatingip.floating_network_id',
      reason: 'is not an external network',
    })
  if (wanted.subnet_id != null && wanted.subnet_id !== found.pool.id)
    throw new SpoutError('ReferenceNotFound', { field: 'floatingip.subnet_id', what: 'Subnet', id: wanted.subnet_id })
  const target = wanted.port_id == null ? null : ownAddress(context, principal, wanted.port_id, 'Port')
  requireFixedAddress(wanted.fixed_ip_address, target)
  const vip = { from: 'pool', poolId: found.pool.id, address: wanted.floating_ip_address ?? null } as const
  const words = { ...(wanted.id !== undefined && { portId: wanted.id }), name: '', description: wanted.description }
  const reserved = await admission.reserveAddress(projectId, vip, 'floating', words)
  try {
    return target === null
      ? reserved
      : await settled(context, [target], () => admission.bindFloating(reserved.portId, target.portId))
  } catch (error) {
    // Release a floating IP that could not be bound as requested, because the client never learns its id.
    await admission.releaseAddress(reserved.portId)
    throw error
  }
}

async function changeFloating(
  context: NetworkContext,
  principal: Principal,
  floating: Address,
  change: Change,
): Promise<Address> {
  const { admission } = context
  const portId = wantedPort(change, floating)
  const target = portId === null ? null : ownAddress(context, principal, portId, 'Port')
  requireFixedAddress(change.fixed_ip_address, target)
  const { description } = change
  if (description !== undefined) await admission.changeAddressText(floating.portId, () => ({ description }))
  return settled(context, [portOf(context, floating), target], () =>
    admission.bindFloating(floating.portId, target?.portId ?? null),
  )
}

/**
 * The port that a floating IP has after a change: the named one, or none. A change of something else keeps the port. An
 * empty change takes it away: so does Neutron, and cloud-provider-openstack relies on it.
 */
function wantedPort(change: Change, floating: Address): string | null {
  if (change.port_id !== undefined) return change.port_id
  return Object.keys(change).length === 0 ? null : floating.ownerId
}

const portOf = ({ view }: NetworkContext, { ownerId }: Address): Address | null =>
  ownerId === null ? null : view.addressByPort(ownerId)

/**
 * Makes a change of floating IPs, and waits until the nodes have confirmed the load balancers of these ports. In
 * Octavia a floating IP leaves the load balancer ACTIVE: cloud-provider-openstack looks next, and takes PENDING_UPDATE
 * as a failure.
 */
async function settled<T>(
  { view, settle }: NetworkContext,
  ports: readonly (Address | null)[],
  change: () => Promise<T>,
): Promise<T> {
  const result = await change()
  const ids = new Set(ports.flatMap((port) => (port?.use === 'vip' && port.ownerId !== null ? [port.ownerId] : [])))
  const carriers = [...ids].map((id) => view.get('loadBalancer', id)?.value)
  await Promise.all(carriers.map((carrier) => carrier && settle(carrier)))
  return result
}

/** A port has one address, so that naming it is allowed and naming another one is a mistake. */
function requireFixedAddress(named: string | null | undefined, target: Address | null): void {
  if (named == null || named === target?.address) return
  throw new SpoutError('InvalidField', {
    field: 'floatingip.fixed_ip_address',
    reason: target === null ? 'needs a port_id' : `is not ${target.address}, the address of the port`,
  })
}
