import { classLimits, classQuota, MOST_PROJECT_NAME, project, quotaLimits, SpoutError, user, uuid } from '@spout/model'
import { z } from 'zod'
import { isAdmin } from '../../authn/access.ts'
import { sourceOf } from '../../authn/login-source.ts'
import { newUser } from '../../authn/new-user.ts'
import { adminRoutes } from '../operations/admin-routes.ts'
import { type Collection, find } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Route, route } from '../operations/route.ts'
import { shownUser } from '../operations/shown.ts'
import { readRoutes } from '../watches/read-routes.ts'

export const PROJECTS: Collection<'project'> = {
  kind: 'project',
  path: '/projects',
  what: 'Project',
  access: 'reader',
  schema: project,
  visible: (principal, object) => isAdmin(principal) || object.id === principal.projectId,
  show: (_context, object) => object,
}

const publicUser = user.omit({ passwordHash: true }).extend({ hasPassword: z.boolean() })

export const USERS: Collection<'user'> = {
  kind: 'user',
  path: '/users',
  what: 'User',
  access: 'admin',
  schema: publicUser,
  visible: isAdmin,
  show: shownUser,
}

const limits = quotaLimits.partial()
const usage = z.strictObject({
  limits: quotaLimits,
  used: quotaLimits,
  /** Of the classes for which it has a limit or load balancers. */
  classes: z.array(classQuota),
})

const quotaOf = ({ admission }: NativeContext, projectId: string) => ({
  ...admission.quotaOf(projectId),
  classes: admission.classQuotasOf(projectId),
})

const password = z.string().min(1).max(1024)
const userDraft = z.strictObject({
  name: z.string().min(1).max(255),
  description: user.shape.description.default(''),
  enabled: z.boolean().default(true),
  /** Absent in a replacement: it stays. */
  password: password.optional(),
  roles: user.shape.roles.default([]),
})

const projects = adminRoutes(PROJECTS)

export const projectRoutes: readonly Route[] = [
  ...readRoutes(PROJECTS),
  projects.create(
    'Create a project',
    z.strictObject({
      /** The id that the project has in another Keystone. Left out: generated. */
      id: uuid.optional(),
      name: z.string().min(1).max(64),
      description: project.shape.description.default(''),
    }),
    ({ admission }, draft) => admission.createProject(draft),
  ),
  projects.change(
    'Change a project; absent fields stay',
    project
      .pick({ description: true, enabled: true, domains: true })
      .partial()
      .extend({
        name: project.shape.name.min(1).max(MOST_PROJECT_NAME).optional(),
      }),
    ({ admission }, id, change) => admission.changeProject(id, change),
  ),
  projects.delete('Delete a project that owns nothing', ({ admission }, id) => admission.deleteProject(id)),
  route({
    method: 'GET',
    path: '/projects/:id/quota',
    tag: 'projects',
    summary: 'Show the limits of a project, and what it uses',
    access: 'reader',
    body: null,
    answer: { status: 200, schema: usage },
    handle: (context, { principal, params }) =>
      quotaOf(context, find(PROJECTS, context, principal, params.id ?? '').id),
  }),
  route({
    method: 'PUT',
    path: '/projects/:id/quota',
    tag: 'projects',
    summary: 'Set limits; absent ones stay',
    access: 'admin',
    body: z.strictObject({
      limits: limits.default({}),
      /** Most load balancers of a class, by its id. 0: none; null: no limit of its own. */
      classes: z.record(uuid, classLimits.valueType.nullable()).default({}),
    }),
    answer: { status: 200, schema: usage },
    handle: async (context, { principal, params, body }) => {
      const { id } = find(PROJECTS, context, principal, params.id ?? '')
      await context.admission.setQuota(id, body.limits, body.classes)
      return quotaOf(context, id)
    },
  }),
  ...readRoutes(USERS),
  route({
    method: 'POST',
    path: '/users',
    tag: 'users',
    summary: 'Create a user',
    access: 'admin',
    body: userDraft,
    answer: { status: 201, schema: publicUser },
    handle: async (context, { principal, body, request }) => {
      const { password: given, ...own } = body
      const asker = { user: principal.userId, source: sourceOf(request.ip) }
      const passwordHash = given === undefined ? null : await context.authenticator.passwords.hash(given, asker)
      const created = await context.admission.putUser({ ...newUser(own, context.clock), ...own, passwordHash })
      return shownUser(context, created)
    },
  }),
  route({
    method: 'PUT',
    path: '/users/:id',
    tag: 'users',
    summary: 'Replace a user; the password stays when none is given',
    access: 'admin',
    body: userDraft,
    answer: { status: 200, schema: publicUser },
    handle: async (context, { principal, params, body, request }) => {
      const id = params.id ?? ''
      find(USERS, context, principal, id)
      const { password: given, ...own } = body
      const asker = { user: principal.userId, source: sourceOf(request.ip) }
      const hash = given === undefined ? undefined : await context.authenticator.passwords.hash(given, asker)
      const known = find(USERS, context, principal, id)
      const changed = await context.admission.putUser({
        ...known,
        ...own,
        passwordHash: hash ?? known.passwordHash,
        updatedAt: context.clock.now().toISOString(),
      })
      if (hash !== undefined) await context.authenticator.tokens.revokeUser(id)
      return shownUser(context, changed)
    },
  }),
  route({
    method: 'DELETE',
    path: '/users/:id',
    tag: 'users',
    summary: 'Delete a user with all tokens',
    access: 'admin',
    body: null,
    answer: { status: 204, schema: null },
    handle: async (context, { principal, params }) => {
      const { id } = find(USERS, context, principal, params.id ?? '')
      if (id === principal.userId) throw new SpoutError('Forbidden', { reason: 'you cannot delete yourself' })
      await context.admission.deleteUser(id)
      await context.authenticator.tokens.revokeUser(id)
    },
  }),
]
