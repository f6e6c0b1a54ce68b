import { domainClaimDraft, type ObjectOf } from '@spout/admission/contract'
import { challengeNameOf, challengeValueOf, domainClaim, SpoutError, uuid } from '@spout/model'
import { z } from 'zod'
import { mayKnow, projectForNew } from '../../authn/access.ts'
import { type Collection, find } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { readRoutes } from '../watches/read-routes.ts'

/** A claim as the API answers it, with the record that proves it. */
const publicClaim = domainClaim.omit({ token: true }).extend({
  record: z.strictObject({ name: z.string(), type: z.literal('TXT'), value: z.string() }),
})

function shownClaim(_context: NativeContext, { token, ...claim }: ObjectOf<'domainClaim'>) {
  return { ...claim, record: { name: challengeNameOf(claim.domain), type: 'TXT', value: challengeValueOf({ token }) } }
}

export const CLAIMS: Collection<'domainClaim'> = {
  kind: 'domainClaim',
  path: '/domain-claims',
  what: 'Domain claim',
  access: 'reader',
  schema: publicClaim,
  visible: (principal, object) => mayKnow(principal, object.projectId),
  show: shownClaim,
}

const own = (context: NativeContext, { principal, params }: Pick<Call<unknown>, 'principal' | 'params'>): string =>
  find(CLAIMS, context, principal, params.id ?? '').id

export const domainClaimRoutes: readonly Route[] = [
  ...readRoutes(CLAIMS),
  route({
    method: 'POST',
    path: '/domain-claims',
    tag: 'domain-claims',
    summary: "Claim a domain, exact or `*.` and a name; it becomes the project's once `record` is found in DNS",
    access: 'member',
    body: domainClaimDraft.extend({ projectId: uuid.optional() }),
    answer: { status: 201, schema: publicClaim },
    handle: async (context, { principal, body }) => {
      const projectId = projectForNew(principal, body.projectId)
      if (!context.domains.enabled)
        throw new SpoutError('Unavailable', {
          what: 'Proof of domains',
          reason: 'the control plane is given no resolvers (domains.resolvers); ask the administrator for the domain',
        })
      return shownClaim(context, await context.admission.claimDomain({ ...body, projectId }))
    },
  }),
  route({
    method: 'POST',
    path: '/domain-claims/:id/check',
    tag: 'domain-claims',
    summary: 'Look for the record now, and answer with what was found',
    access: 'member',
    body: null,
    answer: { status: 200, schema: publicClaim },
    handle: async (context, call) => shownClaim(context, await context.domains.check(own(context, call))),
  }),
  route({
    method: 'DELETE',
    path: '/domain-claims/:id',
    tag: 'domain-claims',
    summary: 'Withdraw a claim; a domain that a name needs stays',
    access: 'member',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, call) => context.admission.withdrawDomainClaim(own(context, call)),
  }),
]
