import type { FastifyRequest } from 'fastify'
import { credentialOf, methodOf } from '../authn/grant.ts'
import type { Session } from '../authn/issued-tokens.ts'
import { queryOf } from '../http/query.ts'
import { catalog } from './catalog.ts'
import type { IdentityContext } from './context.ts'
import { customRolesOf } from './grants.ts'
import { DOMAIN, shownRole } from './role-names.ts'

/** Keystone's times have microseconds. */
export const keystoneTime = (time: string): string => time.replace(/(\.\d{3})Z$/, '$1000Z')

/** A token in Keystone's format. */
export function tokenBody(context: IdentityContext, request: FastifyRequest, session: Session) {
  const { principal, token } = session
  const base = {
    methods: [methodOf(token)],
    user: { domain: DOMAIN, id: principal.userId, name: principal.userName, password_expires_at: null },
    audit_ids: [token.id.slice(0, 22)],
    expires_at: keystoneTime(token.expiresAt),
    issued_at: keystoneTime(token.createdAt),
  }
  if (principal.projectId === null) return { token: base }
  const project = context.view.get('project', principal.projectId)?.value
  const credentialId = credentialOf(token)
  const credential = credentialId === null ? undefined : context.view.get('applicationCredential', credentialId)?.value
  return {
    token: {
      ...base,
      project: { domain: DOMAIN, id: principal.projectId, name: project?.name ?? '' },
      is_domain: false,
      roles: [...principal.roles.map(shownRole), ...(credentialId === null ? customRolesOf(context, principal) : [])],
      ...(credential && {
        application_credential: { id: credential.id, name: credential.name, restricted: true },
      }),
      ...(!queryOf(request).has('nocatalog') && {
        catalog: catalog(context.services, context.baseUrl(request), context.region),
      }),
    },
  }
}
