import { type Network, parseAs, SpoutError, uuid } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { isAdmin, projectForNew, requireRole } from '../authn/access.ts'
import { createNetwork } from '../native/networks/new-network.ts'
import { withAnyId } from './any-id.ts'
import type { NetworkContext } from './context.ts'
import { listing, narrowed } from './listing.ts'
import { networkOrPool, networksOf, ownNetwork, poolsOf } from './scope.ts'
import { shownNetwork, shownPoolNetwork } from './shown.ts'

const networkDraft = z.strictObject({
  network: z.strictObject({
    name: z.string().max(255).default(''),
    description: z.string().max(255).default(''),
    project_id: uuid.optional(),
    tenant_id: uuid.optional(),
    admin_state_up: z.literal(true).optional(),
    shared: z.literal(false).optional(),
    'router:external': z.literal(false).optional(),
    port_security_enabled: z.boolean().optional(),
    availability_zone_hints: z.array(z.never()).optional(),
    'provider:network_type': z.enum(['flat', 'vlan']).optional(),
    'provider:physical_network': z.string().optional(),
    'provider:segmentation_id': z.coerce.number().int().min(1).max(4094).optional(),
  }),
})

type ById = { Params: { id: string } }

/** Networks: a project's own, and each address pool as an external network. */
export function networkRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission, authenticate } = context

  scope.get('/v2.0/networks', async (request) => {
    const principal = await authenticate(request)
    const own = networksOf(context, principal).map((network) => shownNetwork(network, isAdmin(principal)))
    const known = [...own, ...poolsOf(context, principal).map(shownPoolNetwork)]
    return listing(request, 'networks', withAnyId(context, request, 'networks', known))
  })

  scope.get<ById>('/v2.0/networks/:id', async (request) => {
    const principal = await authenticate(request)
    const found = networkOrPool(context, principal, request.params.id)
    const shown = 'pool' in found ? shownPoolNetwork(found.pool) : shownNetwork(found.network, isAdmin(principal))
    return { network: narrowed(request, shown) }
  })

  scope.post('/v2.0/networks', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { network: wanted } = parseAs(networkDraft, request.body)
    const named = segmentOf(wanted)
    if (named !== null && !isAdmin(principal))
      throw new SpoutError('Forbidden', { reason: 'only an administrator may choose the provider segment' })
    const network = await createNetwork(context, principal, {
      projectId: projectForNew(principal, wanted.project_id ?? wanted.tenant_id),
      name: wanted.name,
      description: wanted.description,
      returnPath: null,
      segment: named,
    })
    return reply.code(201).send({ network: shownNetwork(network, isAdmin(principal)) })
  })

  scope.delete<ById>('/v2.0/networks/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    await admission.deleteNetwork(ownNetwork(context, principal, request.params.id).id)
    return reply.code(204).send()
  })
}

/** The segment that the request names; null if none. */
function segmentOf(wanted: z.output<typeof networkDraft>['network']): Network['segment'] | null {
  const physicalNetwork = wanted['provider:physical_network']
  const vlan = wanted['provider:segmentation_id'] ?? null
  const type = wanted['provider:network_type']
  if (physicalNetwork === undefined) {
    if (vlan === null && type === undefined) return null
    throw new SpoutError('MissingField', { field: 'network.provider:physical_network' })
  }
  if (type === 'vlan' && vlan === null)
    throw new SpoutError('MissingField', { field: 'network.provider:segmentation_id' })
  if (type === 'flat' && vlan !== null)
    throw new SpoutError('InvalidField', {
      field: 'network.provider:segmentation_id',
      reason: 'a flat network has none',
    })
  return { physicalNetwork, vlan }
}
