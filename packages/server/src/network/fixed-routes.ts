import { MOST_SECURITY_RULES, SpoutError } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { mayKnow, requireRole } from '../authn/access.ts'
import type { NetworkContext } from './context.ts'
import { listing } from './listing.ts'

/** Kinds that Neutron has and we do not. Clients list them, and get empty lists. */
const EMPTY = {
  subnetpools: 'subnetpools',
  routers: 'routers',
  'address-scopes': 'address_scopes',
  availability_zones: 'availability_zones',
} as const

const EXTENSIONS = [
  ['external-net', 'Neutron external network'],
  ['router', 'Neutron L3 Router'],
  ['provider', 'Provider Network'],
  ['security-group', 'security-group'],
  ['quotas', 'Quota management support'],
  ['sorting', 'Sorting support'],
  ['pagination', 'Pagination support'],
] as const

const extension = ([alias, name]: (typeof EXTENSIONS)[number]) => ({
  alias,
  name,
  description: name,
  links: [],
  updated: '2013-01-20T00:00:00-00:00',
})

type ById = { Params: { id: string } }

export function fixedRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { authenticate, baseUrl, admission, view } = context

  const version = (base: string) => ({
    id: 'v2.0',
    status: 'CURRENT',
    links: [{ rel: 'self', href: `${base}/network/v2.0/` }],
  })
  scope.get('/', (request, reply) => reply.send({ versions: [version(baseUrl(request))] }))
  scope.get('/v2.0', async (request) => {
    await authenticate(request)
    const resources = ['network', 'subnet', 'port', 'floatingip', 'security-group', 'security-group-rule'].map(
      (path) => {
        const name = path.replaceAll('-', '_')
        return {
          name,
          collection: `${name}s`,
          links: [{ rel: 'self', href: `${baseUrl(request)}/network/v2.0/${path}s` }],
        }
      },
    )
    return { resources }
  })

  scope.get('/v2.0/extensions', async (request) => {
    await authenticate(request)
    return { extensions: EXTENSIONS.map(extension) }
  })
  scope.get<ById>('/v2.0/extensions/:id', async (request) => {
    await authenticate(request)
    const found = EXTENSIONS.find(([alias]) => alias === request.params.id)
    if (found === undefined) throw new SpoutError('NotFound', { what: 'Extension', id: request.params.id })
    return { extension: extension(found) }
  })

  for (const [path, plural] of Object.entries(EMPTY)) {
    scope.get(`/v2.0/${path}`, async (request) => {
      await authenticate(request)
      return listing(request, plural, [])
    })
    scope.get<ById>(`/v2.0/${path}/:id`, async (request) => {
      await authenticate(request)
      throw new SpoutError('NotFound', { what: path, id: request.params.id })
    })
  }

  scope.get<ById>('/v2.0/quotas/:id', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'reader')
    const { id } = request.params
    if (!mayKnow(principal, id) || view.get('project', id) === null)
      throw new SpoutError('NotFound', { what: 'Project', id })
    const { limits } = admission.quotaOf(id)
    return {
      quota: {
        network: limits.networks,
        subnet: -1,
        port: limits.addresses,
        floatingip: limits.addresses,
        security_group: limits.securityGroups,
        security_group_rule: limits.securityGroups * MOST_SECURITY_RULES,
      },
    }
  })
}
