import { MOST_PROJECT_NAME, type Project, parseAs, SpoutError } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isAdmin, requireRole } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import type { IdentityContext } from './context.ts'
import { listBody, notFound } from './list-body.ts'
import { DOMAIN } from './role-names.ts'

export const shownProject = (context: IdentityContext, request: FastifyRequest, project: Project) => ({
  id: project.id,
  name: project.name,
  description: project.description,
  enabled: project.enabled,
  domain_id: DOMAIN.id,
  parent_id: DOMAIN.id,
  is_domain: false,
  tags: [],
  options: {},
  links: { self: `${context.baseUrl(request)}/identity/v3/projects/${project.id}` },
})

const fields = {
  name: z.string().min(1).max(MOST_PROJECT_NAME),
  description: z.string().max(255).nullish(),
  /** A project stays in its domain. */
  domain_id: z.literal(DOMAIN.id).nullish(),
  parent_id: z.literal(DOMAIN.id).nullish(),
  is_domain: z.literal(false).optional(),
  tags: z.array(z.never()).optional(),
  options: z.strictObject({}).optional(),
}
const draft = z.object({ project: z.strictObject({ ...fields, enabled: z.literal(true).optional() }) })
const change = z.object({
  project: z.strictObject({ ...fields, name: fields.name.optional(), enabled: z.boolean().optional() }),
})

export function projectRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { view, admission, authenticator } = context

  scope.get('/v3/projects', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    const projects = view.list('project').filter((project) => isAdmin(principal) || project.id === principal.projectId)
    return listBody(
      context,
      request,
      'projects',
      projects.map((project) => shownProject(context, request, project)),
    )
  })

  scope.get<{ Params: { id: string } }>('/v3/projects/:id', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    const project = view.get('project', request.params.id)?.value
    if (project === undefined || (!isAdmin(principal) && project.id !== principal.projectId))
      throw notFound('Project', request.params.id)
    return { project: shownProject(context, request, project) }
  })

  scope.post('/v3/projects', async (request, reply) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const wanted = parseAs(draft, request.body).project
    const project = await admission.createProject({ name: wanted.name, description: wanted.description ?? '' })
    return reply.code(201).send({ project: shownProject(context, request, project) })
  })

  scope.patch<{ Params: { id: string } }>('/v3/projects/:id', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    requireRole(principal, 'admin')
    const { name, description, enabled } = parseAs(change, request.body).project
    const { id } = request.params
    if (view.get('project', id) === null) throw notFound('Project', id)
    if (enabled === false && id === principal.projectId)
      throw new SpoutError('Forbidden', { reason: 'a token cannot disable its own project' })
    const project = await admission.changeProject(id, {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description: description ?? '' }),
      ...(enabled !== undefined && { enabled }),
    })
    return { project: shownProject(context, request, project) }
  })

  scope.delete<{ Params: { id: string } }>('/v3/projects/:id', async (request, reply) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    await admission.deleteProject(request.params.id)
    return reply.code(204).send()
  })
}
