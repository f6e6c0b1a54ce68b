import type { FastifyInstance } from 'fastify'
import type { BaseUrl } from '../http/base-url.ts'

const version = (base: string) => ({
  id: 'v3.14',
  status: 'stable',
  updated: '2020-04-07T00:00:00Z',
  links: [{ rel: 'self', href: `${base}/identity/v3/` }],
  'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
})

/** Version discovery: the root answers 300 with all versions, `/v3` with its own. */
export function versionRoutes(scope: FastifyInstance, baseUrl: BaseUrl): void {
  scope.get('/', (request, reply) => reply.code(300).send({ versions: { values: [version(baseUrl(request))] } }))
  scope.get('/v3', (request, reply) => reply.send({ version: version(baseUrl(request)) }))
}
