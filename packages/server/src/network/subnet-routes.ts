import { parseAs, uuid } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { requireRole } from '../authn/access.ts'
import { withAnyId } from './any-id.ts'
import type { NetworkContext } from './context.ts'
import { listing, narrowed } from './listing.ts'
import { networksOf, ownNetwork, ownSubnet, poolsOf } from './scope.ts'
import { defaultGateway, shownPoolSubnet, shownSubnet } from './shown.ts'

const subnetDraft = z.strictObject({
  subnet: z.strictObject({
    name: z.string().max(255).default(''),
    description: z.string().max(255).default(''),
    project_id: uuid.optional(),
    tenant_id: uuid.optional(),
    network_id: uuid,
    cidr: z.string().max(64),
    ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
    /** Null: no gateway. Absent: the first host. */
    gateway_ip: z.string().max(64).nullable().optional(),
    /** Both values mean the same, because there is no DHCP. */
    enable_dhcp: z.boolean().optional(),
    dns_nameservers: z.array(z.never()).optional(),
    host_routes: z.array(z.never()).optional(),
    allocation_pools: z.array(z.never()).optional(),
    service_types: z.array(z.never()).optional(),
    subnetpool_id: z.null().optional(),
    ipv6_address_mode: z.null().optional(),
    ipv6_ra_mode: z.null().optional(),
  }),
})

type ById = { Params: { id: string } }

/** Subnets: those of a project's networks, and one for each address pool. */
export function subnetRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission, authenticate } = context

  scope.get('/v2.0/subnets', async (request) => {
    const principal = await authenticate(request)
    const own = networksOf(context, principal).flatMap((network) =>
      network.subnets.map((subnet) => shownSubnet(network, subnet)),
    )
    const known = [...own, ...poolsOf(context, principal).map(shownPoolSubnet)]
    return listing(request, 'subnets', withAnyId(context, request, 'subnets', known))
  })

  scope.get<ById>('/v2.0/subnets/:id', async (request) => {
    const principal = await authenticate(request)
    const pool = poolsOf(context, principal).find((known) => known.id === request.params.id)
    if (pool !== undefined) return { subnet: narrowed(request, shownPoolSubnet(pool)) }
    const { network, subnet } = ownSubnet(context, principal, request.params.id)
    return { subnet: narrowed(request, shownSubnet(network, subnet)) }
  })

  scope.post('/v2.0/subnets', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { subnet: wanted } = parseAs(subnetDraft, request.body)
    const network = ownNetwork(context, principal, wanted.network_id)
    const subnet = await admission.addSubnet(network.id, {
      name: wanted.name,
      description: wanted.description,
      cidr: wanted.cidr,
      gatewayIp: wanted.gateway_ip === undefined ? gatewayFor(wanted.cidr) : wanted.gateway_ip,
      nodeRange: null,
    })
    return reply.code(201).send({ subnet: shownSubnet(network, subnet) })
  })

  scope.delete<ById>('/v2.0/subnets/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { network, subnet } = ownSubnet(context, principal, request.params.id)
    await admission.removeSubnet(network.id, subnet.id)
    return reply.code(204).send()
  })
}

/** Null if it is not a prefix: admission then refuses it. */
function gatewayFor(cidr: string): string | null {
  try {
    return defaultGateway(cidr)
  } catch {
    return null
  }
}
