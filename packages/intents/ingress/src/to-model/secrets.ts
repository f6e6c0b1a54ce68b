import type { Ingress } from '@spout/kube'

/** The Secrets that Ingresses name in `spec.tls`, as `namespace/name`, in their order. */
export const secretsOf = (ingresses: readonly Ingress[]): ReadonlySet<string> =>
  new Set(
    ingresses.flatMap(({ metadata, spec }) =>
      (spec?.tls ?? []).flatMap(({ secretName = '' }) =>
        secretName === '' ? [] : [`${metadata.namespace ?? ''}/${secretName}`],
      ),
    ),
  )
