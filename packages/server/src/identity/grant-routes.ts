import type { User } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isAdmin, requireRole } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import { queryOf } from '../http/query.ts'
import type { IdentityContext } from './context.ts'
import { everyRole, grantsOf, isGranted, withGrant, withoutGrant } from './grants.ts'
import { listBody, notFound } from './list-body.ts'
import { DOMAIN } from './role-names.ts'
import { roleById } from './role-routes.ts'

/**
 * Where a role is granted: in a project, or on the domain. A grant on the domain allows nothing. It is kept for clients
 * that read it back.
 */
interface Target {
  readonly path: 'projects' | 'domains'
  /** @throws SpoutError NotFound */
  readonly projectId: (context: IdentityContext, id: string) => string | null
}

const TARGETS: readonly Target[] = [
  {
    path: 'projects',
    projectId: ({ view }, id) => {
      if (view.get('project', id) === null) throw notFound('Project', id)
      return id
    },
  },
  {
    path: 'domains',
    projectId: (_context, id) => {
      if (id !== DOMAIN.id) throw notFound('Domain', id)
      return null
    },
  },
]

type OfUser = { Params: { target: string; user: string } }
type OfRole = { Params: { target: string; user: string; role: string } }

/** Lists, grants and revokes roles. */
export function grantRoutes(scope: FastifyInstance, context: IdentityContext): void {
  for (const target of TARGETS) targetRoutes(scope, context, target)
  assignmentRoutes(scope, context)
}

function targetRoutes(scope: FastifyInstance, context: IdentityContext, target: Target): void {
  const { view, admission, authenticator, clock } = context
  const path = `/v3/${target.path}/:target/users/:user/roles`

  const grantee = (request: FastifyRequest<OfUser>): { readonly user: User; readonly projectId: string | null } => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const projectId = target.projectId(context, request.params.target)
    const user = view.get('user', request.params.user)?.value
    if (user === undefined) throw notFound('User', request.params.user)
    return { user, projectId }
  }
  const wanted = (request: FastifyRequest<OfRole>) => {
    const { user, projectId } = grantee(request)
    return { user, grant: { roleId: roleById(context, request.params.role).id, projectId } }
  }
  /** @throws SpoutError NotFound for what the user does not have */
  const granted = (request: FastifyRequest<OfRole>) => {
    const found = wanted(request)
    if (!isGranted(found.user, found.grant)) throw notFound('Role assignment', request.params.role)
    return found
  }
  const put = (user: User) => admission.putUser({ ...user, updatedAt: clock.now().toISOString() })

  scope.put<OfRole>(`${path}/:role`, async (request, reply) => {
    const { user, grant } = wanted(request)
    const changed = withGrant(user, grant)
    if (changed !== user) await put(changed)
    return reply.code(204).send()
  })

  scope.delete<OfRole>(`${path}/:role`, async (request, reply) => {
    const { user, grant } = granted(request)
    await put(withoutGrant(user, grant))
    return reply.code(204).send()
  })

  // Clients use HEAD to check a grant. Fastify adds it.
  scope.get<OfRole>(`${path}/:role`, async (request, reply) => {
    granted(request)
    return reply.code(204).send()
  })

  scope.get<OfUser>(path, async (request) => {
    const { user, projectId } = grantee(request)
    const ids = grantsOf(user).flatMap((grant) => (grant.projectId === projectId ? [grant.roleId] : []))
    const roles = everyRole(context).filter(({ id }) => ids.includes(id))
    return listBody(
      context,
      request,
      'roles',
      roles.map((role) => ({ ...role, domain_id: null })),
    )
  })
}

function assignmentRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { view, authenticator } = context

  scope.get('/v3/role_assignments', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    const query = queryOf(request)
    const asks = (name: string, value: string | null) => query.get(name)?.some((one) => one === value) ?? true
    const names = query.has('include_names') && query.get('include_names')?.[0] !== 'False'
    const roles = new Map(everyRole(context).map((role) => [role.id, role]))
    const scopeOf = (projectId: string | null) =>
      projectId === null
        ? { domain: names ? DOMAIN : { id: DOMAIN.id } }
        : { project: { id: projectId, ...(names && { name: nameOf(projectId), domain: DOMAIN }) } }
    const nameOf = (projectId: string) => view.get('project', projectId)?.value.name ?? ''
    const assignments = view
      .list('user')
      .filter((user) => (isAdmin(principal) || user.id === principal.userId) && asks('user.id', user.id))
      .flatMap((user) => grantsOf(user).map((grant) => ({ user, ...grant })))
      .filter(({ projectId, roleId }) => asks('scope.project.id', projectId) && asks('role.id', roleId))
      .filter(({ projectId }) => asks('scope.domain.id', projectId === null ? DOMAIN.id : null))
      .filter(() => !query.has('group.id') && !query.has('scope.system'))
      .map(({ user, projectId, roleId }) => ({
        role: names ? (roles.get(roleId) ?? { id: roleId }) : { id: roleId },
        user: names ? { id: user.id, name: user.name, domain: DOMAIN } : { id: user.id },
        scope: scopeOf(projectId),
        links: {},
      }))
    return {
      role_assignments: assignments,
      links: { self: `${context.baseUrl(request)}/identity/v3/role_assignments`, previous: null, next: null },
    }
  })
}
