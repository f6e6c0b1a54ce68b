import { certificateChange, certificateDraft } from '@spout/admission/contract'
import { CERTIFICATE_USES, certificate, uuid } from '@spout/model'
import { z } from 'zod'
import { mayKnow, projectForNew } from '../../authn/access.ts'
import { type Collection, find } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { shownCertificate } from '../operations/shown.ts'
import { readRoutes } from '../watches/read-routes.ts'

/** A certificate as the API answers it: the key is not in it, sealed or not. */
const publicCertificate = certificate.omit({ sealedKey: true }).extend({
  /**
   * `keyed`: shown to clients or members. `authorities`: members' and clients' certificates are verified with it.
   * `revocations`: lists certificates that their authority has revoked. `users`: a list of users and hashes of their
   * passwords.
   */
  use: z.enum(CERTIFICATE_USES),
  status: z.strictObject({
    state: z.enum(['valid', 'not-yet-valid', 'expiring', 'expired']),
    message: z.string(),
  }),
})

export const CERTIFICATES: Collection<'certificate'> = {
  kind: 'certificate',
  path: '/certificates',
  what: 'Certificate',
  access: 'reader',
  schema: publicCertificate,
  ofProject: true,
  visible: (principal, object) => mayKnow(principal, object.projectId),
  show: shownCertificate,
}

const own = (context: NativeContext, { principal, params }: Pick<Call<unknown>, 'principal' | 'params'>): string =>
  find(CERTIFICATES, context, principal, params.id ?? '').id

export const certificateRoutes: readonly Route[] = [
  ...readRoutes(CERTIFICATES),
  route({
    method: 'POST',
    path: '/certificates',
    tag: 'certificates',
    summary:
      'Store a certificate: `chain` and `key` as PEM; `key` is never shown again. Without `key`: certificates of authorities, or revocation lists. Or `users`, never shown either',
    access: 'member',
    body: certificateDraft.extend({ projectId: uuid.optional() }),
    answer: { status: 201, schema: publicCertificate },
    handle: async (context, { principal, body }) =>
      shownCertificate(
        context,
        await context.admission.createCertificate({
          ...body,
          projectId: projectForNew(principal, body.projectId, 'balancer'),
        }),
      ),
  }),
  route({
    method: 'PATCH',
    path: '/certificates/:id',
    tag: 'certificates',
    summary: 'Change a certificate; `chain` and `key` replace it, together, or `users`; absent fields stay',
    access: 'member',
    body: certificateChange,
    answer: { status: 200, schema: publicCertificate },
    handle: async (context, call) =>
      shownCertificate(context, await context.admission.changeCertificate(own(context, call), call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/certificates/:id',
    tag: 'certificates',
    summary: 'Delete a certificate that no listener and no pool uses',
    access: 'member',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, call) => context.admission.deleteCertificate(own(context, call)),
  }),
]
