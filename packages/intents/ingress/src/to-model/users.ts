import type { Refusal } from '@spout/connector'
import type { BasicAuth } from '../ingress-nginx/basic-auth.ts'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * The id of an Ingress's list of users; null while there is none. When the Secret becomes unusable, its previous
 * content is not used either: it may contain a user that was removed.
 */
export function usersOf({ users }: BasicAuth, around: Surroundings, tell: (refusal: Refusal) => void): string | null {
  const sight = around.certificate(users)
  const problem = sight.type === 'refused' ? sight.refusal : sight.type === 'ready' ? sight.notice : null
  if (problem !== null)
    tell({
      reason: 'AnnotationRefused',
      field: `metadata.annotations[${NGINX_PREFIX}auth-secret]`,
      message: `not taken: ${problem.message.replace(/\.$/, '')}; all paths of this Ingress are answered with 503.`,
    })
  return sight.type === 'ready' && problem === null ? sight.certificate.id : null
}
