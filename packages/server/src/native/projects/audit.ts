import type { Principal } from '@spout/admission/contract'
import { type AuditRecord, auditRecord, SpoutError } from '@spout/model'
import { z } from 'zod'
import { isAdmin } from '../../authn/access.ts'
import { queryValue } from '../../http/query.ts'
import { type Call, type Route, route } from '../operations/route.ts'

const DEFAULT_LIMIT = 100
const MOST = 1000

/** The audit log. */
export const auditRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/audit',
    tag: 'audit',
    summary: 'The audit log, newest first: changes and logins in the project, for an administrator in all projects',
    access: 'reader',
    query: {
      since: 'Not before this time',
      user: 'Only of the user with this id or name',
      object: 'Only about the object with this id, or a part of it, whatever API it was changed by',
      project: 'Only of this project',
      limit: `How many at most: 1 to ${MOST}, ${DEFAULT_LIMIT} unless given`,
      before: '`next` of the page before',
    },
    body: null,
    answer: {
      status: 200,
      schema: z.strictObject({
        items: z.array(auditRecord),
        next: z
          .string()
          .nullable()
          .describe('For `before` of the next page; null at the end. A page may be empty and have one.'),
      }),
    },
    handle: async ({ audit }, call) => {
      const shows = filterOf(call)
      const { principal } = call
      return audit.read({
        show: (record) => (shows(record) ? shownTo(principal, record) : null),
        since: timeOf(call),
        limit: limitOf(call),
        before: queryValue(call.request, 'before'),
      })
    },
  }),
]

/** The record as this reader may see it. For a caller from another project, address and token are hidden. */
function shownTo(principal: Principal, record: AuditRecord): AuditRecord | null {
  if (isAdmin(principal)) return record
  const own = principal.projectId
  if (own === null || (record.projectId !== own && record.objectProjectId !== own)) return null
  if (record.projectId === own) return record
  return { ...record, projectId: null, from: null, credentialId: null, token: null }
}

function filterOf({ request }: Call<undefined>): (record: AuditRecord) => boolean {
  const [user, object, project] = ['user', 'object', 'project'].map((name) => queryValue(request, name))
  return (record) =>
    (user == null || record.userId === user || record.userName === user) &&
    (object == null || isAbout(record, object)) &&
    (project == null || record.projectId === project || record.objectProjectId === project)
}

/** A load balancer is also found by what was done to its parts, which the Octavia API names alone. */
const isAbout = ({ object, loadBalancerId }: AuditRecord, id: string): boolean =>
  loadBalancerId === id || object?.split('/').includes(id) === true

function timeOf({ request }: Call<undefined>): string | null {
  const since = queryValue(request, 'since')
  if (since === null) return null
  const at = Date.parse(since)
  if (Number.isNaN(at) || !/^\d{4}-\d\d-\d\dT/.test(since))
    throw new SpoutError('InvalidField', { field: 'since', reason: 'is not a time like 2026-01-31T12:00:00Z' })
  return new Date(at).toISOString()
}

function limitOf({ request }: Call<undefined>): number {
  const text = queryValue(request, 'limit') ?? String(DEFAULT_LIMIT)
  const limit = Number(text)
  if (/^\d{1,4}$/.test(text) && limit >= 1 && limit <= MOST) return limit
  throw new SpoutError('InvalidField', { field: 'limit', reason: `must be a whole number from 1 to ${MOST}` })
}
