import { parseAs, SpoutError } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireRole } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import type { IdentityContext } from './context.ts'
import { everyRole, type ShownRole } from './grants.ts'
import { listBody, notFound } from './list-body.ts'
import { NAMED_ROLES } from './role-names.ts'

const fields = {
  name: z.string().min(1).max(255),
  description: z.string().max(255).nullish(),
  domain_id: z.null().optional(),
  options: z.strictObject({}).optional(),
}
const draft = z.object({ role: z.strictObject(fields) })
const change = z.object({ role: z.strictObject({ ...fields, name: fields.name.optional() }) })

type ById = { Params: { id: string } }

/** Roles: those that access checks use, and custom ones, which clients make. */
export function roleRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { admission, authenticator, view } = context

  const shown = (request: FastifyRequest, { id, name }: ShownRole) => ({
    id,
    name,
    domain_id: null,
    description: view.get('customRole', id)?.value.description || null,
    options: {},
    links: { self: `${context.baseUrl(request)}/identity/v3/roles/${id}` },
  })

  scope.get('/v3/roles', async (request) => {
    sessionOf(authenticator, request)
    const roles = everyRole(context).map((role) => shown(request, role))
    return listBody(context, request, 'roles', roles)
  })

  scope.get<ById>('/v3/roles/:id', async (request) => {
    sessionOf(authenticator, request)
    return { role: shown(request, roleById(context, request.params.id)) }
  })

  scope.post('/v3/roles', async (request, reply) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const { name, description } = parseAs(draft, request.body).role
    const role = await admission.createCustomRole({ name, description: description ?? '' })
    return reply.code(201).send({ role: shown(request, role) })
  })

  /** A role that access checks do not use. @throws SpoutError NotFound, Forbidden */
  const customRole = (id: string): ShownRole => {
    const found = roleById(context, id)
    if (NAMED_ROLES.some((role) => role.id === id))
      throw new SpoutError('Forbidden', { reason: `the role ${found.name} belongs to the system` })
    return found
  }

  scope.patch<ById>('/v3/roles/:id', async (request) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const { name, description } = parseAs(change, request.body).role
    const { id } = customRole(request.params.id)
    const role = await admission.changeCustomRole(id, {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description: description ?? '' }),
    })
    return { role: shown(request, role) }
  })

  scope.delete<ById>('/v3/roles/:id', async (request, reply) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const { id } = customRole(request.params.id)
    await admission.deleteCustomRole(id)
    return reply.code(204).send()
  })
}

/** @throws SpoutError NotFound */
export function roleById(context: IdentityContext, id: string): ShownRole {
  const role = everyRole(context).find((known) => known.id === id)
  if (role === undefined) throw notFound('Role', id)
  return role
}
