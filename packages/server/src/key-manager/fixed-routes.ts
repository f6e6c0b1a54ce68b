import type { FastifyInstance } from 'fastify'
import { requireRole } from '../authn/access.ts'
import type { KeyManagerContext } from './context.ts'

/** Version discovery, and the project's quota. */
export function fixedRoutes(scope: FastifyInstance, { authenticate, admission, baseUrl }: KeyManagerContext): void {
  const version = (base: string) => ({
    id: 'v1',
    status: 'stable',
    updated: '2015-04-28T00:00:00Z',
    links: [{ rel: 'self', href: `${base}/key-manager/v1/` }],
    'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.key-manager-v1+json' }],
  })
  scope.get('/', (request, reply) => reply.code(300).send({ versions: { values: [version(baseUrl(request))] } }))
  scope.get('/v1', (request, reply) => reply.send({ version: version(baseUrl(request)) }))

  scope.get('/v1/quotas', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'reader')
    const { secrets } = admission.quotaOf(principal.projectId ?? '').limits
    // Secrets and containers have one limit together.
    return { quotas: { secrets, containers: secrets, consumers: 100, orders: 0, cas: 0 } }
  })
}
