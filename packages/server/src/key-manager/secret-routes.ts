import type { Secret } from '@spout/model'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notesOf } from '../audit/audit-notes.ts'
import { requireRole } from '../authn/access.ts'
import type { KeyManagerContext } from './context.ts'
import { KeyManagerFault } from './fault.ts'
import { listQuery, page } from './pages.ts'
import { answeredType, payloadOfBody } from './payload.ts'
import { secretRef } from './references.ts'
import { ownSecret, secretsOf } from './scope.ts'
import { readSecret } from './secret-request.ts'
import { shownSecret } from './shown.ts'

type ById = { Params: { id: string } }

/** https://docs.openstack.org/api-guide/key-manager/secrets.html */
export function secretRoutes(scope: FastifyInstance, context: KeyManagerContext): void {
  const { admission, authenticate, baseUrl, clock } = context

  scope.get('/v1/secrets', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'reader')
    const query = listQuery(request, [...Object.keys(FILTERS), 'acl_only'])
    const wanted = Object.entries(FILTERS).flatMap(([name, read]) => {
      const text = query.get(name)
      return text === null || text === '' ? [] : [(secret: Secret) => read(secret) === text]
    })
    const found = secretsOf(context, principal).filter((secret) => wanted.every((fits) => fits(secret)))
    const base = baseUrl(request)
    return page('secrets', found, (secret) => shownSecret(secret, base), query, `${base}/key-manager/v1/secrets`)
  })

  scope.post('/v1/secrets', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const draft = readSecret(request.body, clock.now())
    const owner = { projectId: principal.projectId ?? '', creatorId: principal.userId }
    const { id } = await admission.createSecret({ ...draft, ...owner })
    notesOf(request).object = `secrets/${id}`
    const secret_ref = secretRef(baseUrl(request), id)
    return reply.code(201).header('location', secret_ref).send({ secret_ref })
  })

  scope.get<ById>('/v1/secrets/:id', async (request, reply) => {
    // A client that requests another type than JSON gets the payload.
    if (!/^$|application\/json|\*\/\*/.test(request.headers.accept ?? '')) return sendPayload(request, reply)
    const principal = await authenticate(request)
    requireRole(principal, 'reader')
    return shownSecret(ownSecret(context, principal, request.params.id), baseUrl(request))
  })

  scope.get<ById>('/v1/secrets/:id/payload', (request, reply) => sendPayload(request, reply))

  async function sendPayload(request: FastifyRequest<ById>, reply: FastifyReply) {
    notesOf(request).isSensitive = true
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const payload = admission.openSecret(ownSecret(context, principal, request.params.id).id)
    if (payload === null) throw new KeyManagerFault(404, 'Not Found. Sorry but your secret has no payload.')
    return reply.type(answeredType(payload, request.headers.accept)).send(payload.bytes)
  }

  scope.put<ById>('/v1/secrets/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { id, sealedPayload } = ownSecret(context, principal, request.params.id)
    const { 'content-type': type = '', 'content-encoding': encoding } = request.headers
    const payload = payloadOfBody(request.body, type, encoding)
    if (sealedPayload !== null) throw new KeyManagerFault(409, 'Secret already has data, cannot modify it.')
    await admission.setPayload(id, payload)
    return reply.code(204).send()
  })

  scope.delete<ById>('/v1/secrets/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    await admission.deleteSecret(ownSecret(context, principal, request.params.id).id)
    return reply.code(204).send()
  })

  scope.get<ById>('/v1/secrets/:id/acl', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'reader')
    ownSecret(context, principal, request.params.id)
    return WHOLE_PROJECT
  })
}

/** Everybody in the project who has the role, and nobody else; that cannot be changed. */
const WHOLE_PROJECT = { read: { 'project-access': true, users: [] } }

const FILTERS: Readonly<Record<string, (secret: Secret) => string | null>> = {
  name: ({ name }) => name,
  secret_type: ({ secretType }) => secretType,
  alg: ({ algorithm }) => algorithm,
  mode: ({ mode }) => mode,
  bits: ({ bitLength }) => (bitLength === null ? null : String(bitLength)),
}
