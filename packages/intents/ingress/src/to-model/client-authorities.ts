import { authoritiesKey, type Refusal, shown } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { authoritiesRefused } from '../ingress-nginx/client-certificates.ts'
import type { IngressOptions } from './annotations.ts'
import type { Surroundings } from './surroundings.ts'

export interface ClientAuthorities {
  /**
   * Id of the certificate with the authorities that verify clients; null when clients are not asked for certificates.
   */
  readonly id: string | null
  /** Ingresses whose clients cannot be verified. Their paths answer 503. */
  readonly refused: ReadonlySet<Ingress>
}

/**
 * A listener can verify clients by the authorities of one Secret only. The oldest Ingress decides which: another one's
 * authorities would accept clients that the oldest does not know.
 * @param ordered the oldest first
 */
export function clientAuthoritiesOf(
  ordered: readonly { readonly ingress: Ingress; readonly options: IngressOptions }[],
  around: Surroundings,
  tell: (ingress: Ingress, refusal: Refusal) => void,
): ClientAuthorities {
  const wanting = ordered.flatMap(({ ingress, options: { clients, canary, isRefused } }) =>
    clients === null || canary !== null || isRefused ? [] : [{ ingress, secret: clients.secret }],
  )
  const [first] = wanting
  if (first === undefined) return { id: null, refused: new Set() }
  const refused = new Set<Ingress>()
  const refuse = (ingress: Ingress, why: string | null): void => {
    refused.add(ingress)
    if (why !== null) tell(ingress, authoritiesRefused(why))
  }
  const hasTls = ordered.some(({ ingress }) => (ingress.spec?.tls ?? []).some(({ secretName }) => secretName))
  const sight = around.certificate(authoritiesKey(first.secret))
  // A notice means that the Secret is no longer valid. Clients are not verified with its previous content.
  const id = hasTls && sight.type === 'ready' && sight.notice === null ? sight.certificate.id : null
  const problem = sight.type === 'refused' ? sight.refusal : sight.type === 'ready' ? sight.notice : null
  for (const { ingress, secret } of wanting) {
    if (!hasTls) refuse(ingress, 'no Ingress of its address has a certificate (spec.tls)')
    else if (secret !== first.secret)
      refuse(ingress, `an older Ingress of this address has Secret ${shown(first.secret)}, and there is one for all`)
    else if (id === null) refuse(ingress, problem === null ? null : problem.message.replace(/\.$/, ''))
  }
  return { id, refused }
}
