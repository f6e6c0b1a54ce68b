import type { Principal, VipRequest } from '@spout/admission/contract'
import { type Address, parseAs, SpoutError, uuid } from '@spout/model'
import { cidrContains, isIp, parseCidr, parseIp } from '@spout/net'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { projectForNew, requireRole } from '../authn/access.ts'
import { requireChoice } from './chosen-id.ts'
import type { NetworkContext } from './context.ts'
import { listing, narrowed } from './listing.ts'
import { addressesOf, networkOrPool, ownAddress } from './scope.ts'
import { ownGroup } from './security-groups.ts'
import { shownFloatingIp, shownPort } from './shown.ts'

const text = z.string().max(255)
const named = { name: text.default(''), description: text.default('') }
const project = { project_id: uuid.optional(), tenant_id: uuid.optional() }
const ip = z.string().max(64)

const portDraft = z.strictObject({
  port: z.strictObject({
    ...named,
    ...project,
    network_id: uuid,
    fixed_ips: z
      .array(z.strictObject({ subnet_id: uuid.optional(), ip_address: ip.optional() }))
      .max(1)
      .default([]),
    admin_state_up: z.literal(true).optional(),
    device_id: text.optional(),
    device_owner: text.optional(),
    /** A port gets groups with its load balancer. */
    security_groups: z.array(z.never()).optional(),
    port_security_enabled: z.boolean().optional(),
    allowed_address_pairs: z.array(z.never()).optional(),
    'binding:vnic_type': z.literal('normal').optional(),
  }),
})

const portChange = z.strictObject({
  port: z.strictObject({
    name: text.optional(),
    description: text.optional(),
    security_groups: z.array(uuid).optional(),
    port_security_enabled: z.boolean().optional(),
    allowed_address_pairs: z.array(z.never()).optional(),
    admin_state_up: z.literal(true).optional(),
  }),
})

const floatingDraft = z.strictObject({
  floatingip: z.strictObject({
    id: uuid.optional(),
    description: text.default(''),
    ...project,
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

type ById = { Params: { id: string } }

/** Ports and floating IPs: two views of the same addresses. */
export function addressRoutes(scope: FastifyInstance, context: NetworkContext): void {
  portRoutes(scope, context)
  floatingIpRoutes(scope, context)
}

function portRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission, authenticate, view } = context
  const shown = (address: Address) => shownPort(view, address)

  scope.get('/v2.0/ports', async (request) => {
    const principal = await authenticate(request)
    return listing(request, 'ports', addressesOf(context, principal).map(shown))
  })

  scope.get<ById>('/v2.0/ports/:id', async (request) => {
    const principal = await authenticate(request)
    return { port: narrowed(request, shown(ownAddress(context, principal, request.params.id, 'Port'))) }
  })

  scope.post('/v2.0/ports', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { port: wanted } = parseAs(portDraft, request.body)
    const projectId = projectForNew(principal, wanted.project_id ?? wanted.tenant_id)
    const [fixed = {}] = wanted.fixed_ips
    const vip = vipRequestOf(context, principal, wanted.network_id, fixed.subnet_id, fixed.ip_address ?? null)
    const words = { name: wanted.name, description: wanted.description }
    return reply.code(201).send({ port: shown(await admission.reserveAddress(projectId, vip, 'port', words)) })
  })

  scope.put<ById>('/v2.0/ports/:id', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const address = ownAddress(context, principal, request.params.id, 'Port')
    const { name, description, security_groups: groups } = parseAs(portChange, request.body).port
    if (groups !== undefined) await setGroups(context, principal, address, groups)
    const words = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) }
    return { port: shown(await admission.changeAddressText(address.portId, () => words)) }
  })

  scope.delete<ById>('/v2.0/ports/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const address = ownAddress(context, principal, request.params.id, 'Port')
    if (address.use === 'node' || address.use === 'gateway')
      throw new SpoutError('Forbidden', { reason: 'the address belongs to the system' })
    await admission.releaseAddress(address.portId)
    return reply.code(204).send()
  })
}

/**
 * The groups of a VIP's port are those of its load balancer.
 * @throws SpoutError for groups of another port: nothing that listens there is ours
 */
async function setGroups(
  context: NetworkContext,
  principal: Principal,
  { use, ownerId }: Address,
  groups: readonly string[],
): Promise<void> {
  if (use !== 'vip' || ownerId === null) {
    if (groups.length === 0) return
    const reason = 'only the port of a load balancer has security groups: what else listens at a port is not known here'
    throw new SpoutError('Unsupported', { field: 'port.security_groups', reason })
  }
  const securityGroupIds = [...new Set(groups.map((id) => ownGroup(context, principal, id).id))]
  await context.settle(await context.admission.changeLoadBalancer(ownerId, () => ({ securityGroupIds })))
}

function floatingIpRoutes(scope: FastifyInstance, context: NetworkContext): void {
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
    requireChoice(principal, 'floatingip', wanted.id)
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
      const floating =
        target === null
          ? reserved
          : await settled(context, [target], () => admission.bindFloating(reserved.portId, target.portId))
      return reply.code(201).send({ floatingip: shownFloatingIp(view, floating) })
    } catch (error) {
      // Release a floating IP that could not be bound as requested, because the client never learns its id.
      await admission.releaseAddress(reserved.portId)
      throw error
    }
  })

  scope.put<ById>('/v2.0/floatingips/:id', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const floating = ownAddress(context, principal, request.params.id, 'FloatingIP')
    const { floatingip: change } = parseAs(floatingChange, request.body)
    const portId = wantedPort(change, floating)
    const target = portId === null ? null : ownAddress(context, principal, portId, 'Port')
    requireFixedAddress(change.fixed_ip_address, target)
    const { description } = change
    if (description !== undefined) await admission.changeAddressText(floating.portId, () => ({ description }))
    const bound = await settled(context, [portOf(context, floating), target], () =>
      admission.bindFloating(floating.portId, target?.portId ?? null),
    )
    return { floatingip: shownFloatingIp(view, bound) }
  })

  scope.delete<ById>('/v2.0/floatingips/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const floating = ownAddress(context, principal, request.params.id, 'FloatingIP')
    await settled(context, [portOf(context, floating)], () => admission.releaseAddress(floating.portId))
    return reply.code(204).send()
  })
}

/**
 * The port that a floating IP has after a change: the named one, or none. A change of something else keeps the port. An
 * empty change takes it away: so does Neutron, and cloud-provider-openstack relies on it.
 */
function wantedPort(change: z.output<typeof floatingChange>['floatingip'], floating: Address): string | null {
  if (change.port_id !== undefined) return change.port_id
  return Object.keys(change).length === 0 ? null : floating.ownerId
}

const portOf = ({ view }: NetworkContext, { ownerId }: Address): Address | null =>
  ownerId === null ? null : view.addressByPort(ownerId)

/**
 * Makes a change of floating IPs, and waits for the nodes that carry load balancers of these ports. In Octavia a floating
 * IP leaves the load balancer ACTIVE: cloud-provider-openstack asks next, and takes PENDING_UPDATE as a failure.
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

/**
 * Where a port's address comes from: the named subnet, the subnet that contains the address, or the network's first.
 */
function vipRequestOf(
  context: NetworkContext,
  principal: Principal,
  networkId: string,
  subnetId: string | undefined,
  address: string | null,
): VipRequest {
  const found = networkOrPool(context, principal, networkId)
  if (address !== null && !isIp(address))
    throw new SpoutError('InvalidField', { field: 'port.fixed_ips[0].ip_address', reason: 'is not an address' })
  if ('pool' in found) return { from: 'pool', poolId: found.pool.id, address }
  const { subnets } = found.network
  const subnet =
    subnetId !== undefined
      ? subnets.find((known) => known.id === subnetId)
      : address !== null
        ? subnets.find((known) => cidrContains(parseCidr(known.cidr), parseIp(address)))
        : subnets[0]
  if (subnet !== undefined) return { from: 'subnet', networkId, subnetId: subnet.id, address }
  if (subnetId !== undefined)
    throw new SpoutError('ReferenceNotFound', { field: 'port.fixed_ips[0].subnet_id', what: 'Subnet', id: subnetId })
  const field = address === null ? 'port.network_id' : 'port.fixed_ips[0].ip_address'
  throw new SpoutError('InvalidField', { field, reason: 'the network has no subnet for it' })
}
