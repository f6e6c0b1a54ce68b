import type { User } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isAdmin, requireRole } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import { queryOf } from '../http/query.ts'
import type { IdentityContext } from './context.ts'
import { listBody, notFound } from './list-body.ts'
import { DOMAIN, NAMED_ROLES, roleId, shownRole } from './role-names.ts'

type KnownRole = (typeof NAMED_ROLES)[number]
type Grant = { Params: { project: string; user: string; role: string } }

/** Roles and role assignments. */
export function roleRoutes(scope: FastifyInstance, context: IdentityContext): void {
  catalogueRoutes(scope, context)
  grantRoutes(scope, context)
  assignmentRoutes(scope, context)
}

function catalogueRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { authenticator } = context

  const shown = (request: FastifyRequest, { id, name }: KnownRole) => ({
    id,
    name,
    domain_id: null,
    description: null,
    options: {},
    links: { self: `${context.baseUrl(request)}/identity/v3/roles/${id}` },
  })

  scope.get('/v3/roles', async (request) => {
    sessionOf(authenticator, request)
    return listBody(
      context,
      request,
      'roles',
      NAMED_ROLES.map((role) => shown(request, role)),
    )
  })

  scope.get<{ Params: { id: string } }>('/v3/roles/:id', async (request) => {
    sessionOf(authenticator, request)
    return { role: shown(request, roleById(request.params.id)) }
  })
}

function grantRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { view, admission, authenticator, clock } = context

  const grantee = (request: FastifyRequest<Grant>): User => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const { project, user } = request.params
    if (view.get('project', project) === null) throw notFound('Project', project)
    return view.get('user', user)?.value ?? missingUser(user)
  }
  const grantPath = '/v3/projects/:project/users/:user/roles/:role'

  scope.put<Grant>(grantPath, async (request, reply) => {
    const user = grantee(request)
    const { name: role } = roleById(request.params.role)
    if (!user.roles.some((grant) => grant.projectId === request.params.project && grant.role === role)) {
      const roles = [...user.roles, { projectId: request.params.project, role }]
      await admission.putUser({ ...user, roles, updatedAt: clock.now().toISOString() })
    }
    return reply.code(204).send()
  })

  scope.delete<Grant>(grantPath, async (request, reply) => {
    const user = grantee(request)
    const { name: role } = roleById(request.params.role)
    const roles = user.roles.filter((grant) => grant.projectId !== request.params.project || grant.role !== role)
    if (roles.length === user.roles.length) throw notFound('Role assignment', request.params.role)
    await admission.putUser({ ...user, roles, updatedAt: clock.now().toISOString() })
    return reply.code(204).send()
  })

  // Clients use HEAD to check a grant. Fastify adds it.
  scope.get<Grant>(grantPath, async (request, reply) => {
    const user = grantee(request)
    const { name: role } = roleById(request.params.role)
    if (!user.roles.some((grant) => grant.projectId === request.params.project && grant.role === role))
      throw notFound('Role assignment', request.params.role)
    return reply.code(204).send()
  })

  scope.get<Grant>('/v3/projects/:project/users/:user/roles', async (request) => {
    const user = grantee(request)
    const roles = user.roles.filter((grant) => grant.projectId === request.params.project)
    return listBody(
      context,
      request,
      'roles',
      roles.map((grant) => ({ ...shownRole(grant.role), domain_id: null })),
    )
  })
}

function assignmentRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { view, authenticator } = context

  scope.get('/v3/role_assignments', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    const query = queryOf(request)
    const asks = (name: string, value: string) => query.get(name)?.includes(value) ?? true
    const names = query.has('include_names') && query.get('include_names')?.[0] !== 'False'
    const assignments = view
      .list('user')
      .filter((user) => (isAdmin(principal) || user.id === principal.userId) && asks('user.id', user.id))
      .flatMap((user) => user.roles.map((grant) => ({ user, ...grant })))
      .filter(({ projectId, role }) => asks('scope.project.id', projectId) && asks('role.id', roleId(role)))
      .filter(() => !query.has('group.id') && !query.has('scope.system') && !query.has('scope.domain.id'))
      .map(({ user, projectId, role }) => {
        const project = { id: projectId, name: view.get('project', projectId)?.value.name ?? '', domain: DOMAIN }
        const named = { role: shownRole(role), user: { id: user.id, name: user.name, domain: DOMAIN } }
        return names
          ? { ...named, scope: { project }, links: {} }
          : { role: { id: roleId(role) }, user: { id: user.id }, scope: { project: { id: projectId } }, links: {} }
      })
    return {
      role_assignments: assignments,
      links: { self: `${context.baseUrl(request)}/identity/v3/role_assignments`, previous: null, next: null },
    }
  })
}

function roleById(id: string): KnownRole {
  const role = NAMED_ROLES.find((known) => known.id === id)
  if (role === undefined) throw notFound('Role', id)
  return role
}

const missingUser = (id: string): never => {
  throw notFound('User', id)
}
