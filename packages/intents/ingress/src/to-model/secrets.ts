import { authoritiesKey } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { usersNamedBy } from '../ingress-nginx/basic-auth.ts'
import { authoritiesNamedBy } from '../ingress-nginx/client-certificates.ts'

/**
 * The keys of the Secrets that Ingresses name: in `spec.tls`, with authorities for client certificates, and with
 * users.
 */
export const secretsOf = (ingresses: readonly Ingress[]): ReadonlySet<string> =>
  new Set([
    ...ingresses.flatMap(({ metadata, spec }) =>
      (spec?.tls ?? []).flatMap(({ secretName = '' }) =>
        secretName === '' ? [] : [`${metadata.namespace ?? ''}/${secretName}`],
      ),
    ),
    ...ingresses.flatMap((one) => {
      const named = authoritiesNamedBy(one)
      return named === null ? [] : [authoritiesKey(named)]
    }),
    ...ingresses.flatMap((one) => usersNamedBy(one) ?? []),
  ])
