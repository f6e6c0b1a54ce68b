import { parseAs, secretConsumer } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notesOf } from '../audit/audit-notes.ts'
import { requireRole } from '../authn/access.ts'
import { namedSecret, readContainer, readNamedSecret } from './container-request.ts'
import type { KeyManagerContext } from './context.ts'
import { KeyManagerFault } from './fault.ts'
import { listQuery, page } from './pages.ts'
import { containerRef } from './references.ts'
import { containersOf, ownContainer, secretsOf } from './scope.ts'
import { shownConsumerOf, shownContainer } from './shown.ts'

type ById = { Params: { id: string } }
type ByIdRequest = FastifyRequest<ById>

const consumerRequest = z.object({ name: secretConsumer.shape.name, URL: secretConsumer.shape.url })

async function principalOf({ authenticate }: KeyManagerContext, request: FastifyRequest, role: 'reader' | 'member') {
  const principal = await authenticate(request)
  requireRole(principal, role)
  return principal
}

/** The container that the path names. */
const found = async (context: KeyManagerContext, request: ByIdRequest, role: 'reader' | 'member') =>
  ownContainer(context, await principalOf(context, request, role), request.params.id)

/** https://docs.openstack.org/api-guide/key-manager/containers.html */
export function containerRoutes(scope: FastifyInstance, context: KeyManagerContext): void {
  wholeRoutes(scope, context)
  secretRoutes(scope, context)
  consumerRoutes(scope, context)
}

/** Lists, creates, shows and deletes containers. */
function wholeRoutes(scope: FastifyInstance, context: KeyManagerContext): void {
  const { admission, baseUrl } = context

  scope.get('/v1/containers', async (request) => {
    const principal = await principalOf(context, request, 'reader')
    const query = listQuery(request, ['name', 'type'])
    const [name, type] = [query.get('name'), query.get('type')]
    const all = containersOf(context, principal).filter(
      (one) => (name === null || one.name === name) && (type === null || one.type === type),
    )
    const base = baseUrl(request)
    return page('containers', all, (one) => shownContainer(one, base), query, `${base}/key-manager/v1/containers`)
  })

  scope.post('/v1/containers', async (request, reply) => {
    const principal = await principalOf(context, request, 'member')
    const draft = readContainer(request.body)
    const known = new Set(secretsOf(context, principal).map(({ id }) => id))
    const missing = draft.secrets.find(({ secretId }) => !known.has(secretId))
    if (missing !== undefined) throw new KeyManagerFault(404, `Secret provided for '${missing.name}' doesn't exist.`)
    const owner = { projectId: principal.projectId ?? '', creatorId: principal.userId }
    const { id } = await admission.createSecretContainer({ ...draft, ...owner })
    notesOf(request).object = `containers/${id}`
    const container_ref = containerRef(baseUrl(request), id)
    return reply.code(201).header('location', container_ref).send({ container_ref })
  })

  scope.get<ById>('/v1/containers/:id', async (request) =>
    shownContainer(await found(context, request, 'reader'), baseUrl(request)),
  )

  scope.delete<ById>('/v1/containers/:id', async (request, reply) => {
    await admission.deleteSecretContainer((await found(context, request, 'member')).id)
    return reply.code(204).send()
  })
}

type Named = ReturnType<typeof readNamedSecret>
const same = (a: Named) => (b: Named) => a.name === b.name && a.secretId === b.secretId

/** The secret that a request names, for a container that may change. */
async function namedIn(context: KeyManagerContext, request: ByIdRequest) {
  const { id, type } = await found(context, request, 'member')
  if (type !== 'generic') throw new KeyManagerFault(400, "Only 'generic' containers can be modified.")
  return { id, named: readNamedSecret(parseAs(namedSecret, request.body)) }
}

/** Adds secrets to a container, and removes them. */
function secretRoutes(scope: FastifyInstance, context: KeyManagerContext): void {
  const { admission, baseUrl } = context

  scope.post<ById>('/v1/containers/:id/secrets', async (request, reply) => {
    const { id, named } = await namedIn(context, request)
    const principal = await principalOf(context, request, 'member')
    if (!secretsOf(context, principal).some((one) => one.id === named.secretId))
      throw new KeyManagerFault(404, "Secret provided doesn't exist.")
    await admission.changeSecretContainer(id, ({ secrets }) => {
      if (secrets.some(same(named)))
        throw new KeyManagerFault(409, 'Conflict. A secret with that name and ID is already stored in this container.')
      return { secrets: [...secrets, named] }
    })
    const container_ref = containerRef(baseUrl(request), id)
    return reply.code(201).header('location', container_ref).send({ container_ref })
  })

  scope.delete<ById>('/v1/containers/:id/secrets', async (request, reply) => {
    const { id, named } = await namedIn(context, request)
    await admission.changeSecretContainer(id, ({ secrets }) => {
      if (!secrets.some(same(named))) throw new KeyManagerFault(404, 'Secret provided is not in the container')
      return { secrets: secrets.filter((one) => !same(named)(one)) }
    })
    return reply.code(204).send()
  })
}

/** Lists, adds and removes consumers of a container. */
function consumerRoutes(scope: FastifyInstance, context: KeyManagerContext): void {
  const { admission, baseUrl } = context

  scope.get<ById>('/v1/containers/:id/consumers', async (request) => {
    const container = await found(context, request, 'reader')
    const url = `${containerRef(baseUrl(request), container.id)}/consumers`
    return page('consumers', container.consumers, shownConsumerOf(container), listQuery(request, []), url)
  })

  scope.post<ById>('/v1/containers/:id/consumers', async (request) => {
    const { id } = await found(context, request, 'member')
    const { name, URL: url } = parseAs(consumerRequest, request.body)
    const changed = await admission.changeSecretContainer(id, ({ consumers }) => ({
      consumers: [...consumers.filter((one) => one.name !== name || one.url !== url), { name, url }],
    }))
    return shownContainer(changed, baseUrl(request))
  })

  scope.delete<ById>('/v1/containers/:id/consumers', async (request) => {
    const { id } = await found(context, request, 'member')
    const { name, URL: url } = parseAs(consumerRequest, request.body)
    const changed = await admission.changeSecretContainer(id, ({ consumers }) => {
      const others = consumers.filter((one) => one.name !== name || one.url !== url)
      if (others.length === consumers.length) throw new KeyManagerFault(404, 'Consumer not found.')
      return { consumers: others }
    })
    return shownContainer(changed, baseUrl(request))
  })
}
