import { authoritiesKey } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { usersNamedBy } from '../ingress-nginx/basic-auth.ts'
import { authoritiesNamedBy } from '../ingress-nginx/client-certificates.ts'

/**
 * The Secrets that Ingresses name in `spec.tls`, as `namespace/name`, and those with authorities of clients and with
 * users, by their keys.
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
