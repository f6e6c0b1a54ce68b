import type { Principal, VipRequest } from '@spout/admission/contract'
import { type Address, parseAs, SpoutError, uuid } from '@spout/model'
import { cidrContains, isIp, parseCidr, parseIp } from '@spout/net'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { projectForNew, requireRole } from '../authn/access.ts'
import { withAnyId } from './any-id.ts'
import type { NetworkContext } from './context.ts'
import { listing, narrowed } from './listing.ts'
import { addressesOf, networkOrPool, ownAddress } from './scope.ts'
import { ownGroup } from './security-groups.ts'
import { shownPort } from './shown.ts'

const text = z.string().max(255)

const portDraft = z.strictObject({
  port: z.strictObject({
    name: text.default(''),
    description: text.default(''),
    project_id: uuid.optional(),
    tenant_id: uuid.optional(),
    network_id: uuid,
    fixed_ips: z
      .array(z.strictObject({ subnet_id: uuid.optional(), ip_address: z.string().max(64).optional() }))
      .max(1)
      .default([]),
    admin_state_up: z.literal(true).optional(),
    device_id: text.optional(),
    device_owner: text.optional(),
    /** A port has the security groups of its load balancer, and a new port has none yet. */
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

type ById = { Params: { id: string } }

/** Ports: addresses with a name and, those of load balancers, security groups. */
export function portRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission, authenticate, view } = context
  const shown = (address: Address) => shownPort(view, address)

  scope.get('/v2.0/ports', async (request) => {
    const principal = await authenticate(request)
    return listing(request, 'ports', withAnyId(context, request, 'ports', addressesOf(context, principal).map(shown)))
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
 * Sets the security groups of a VIP's port, which are those of its load balancer.
 * @throws SpoutError for groups of another port, because we do not know what listens there
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
