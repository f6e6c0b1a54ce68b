import { type AskedNames, askedNames } from '@spout/connector'
import type { Ingress } from '@spout/kube'

/**
 * The DNS names that an Ingress requests: those of its annotation and, as in external-dns, the hosts of its rules and
 * of `spec.tls`.
 */
export function dnsNamesOf({ metadata, spec }: Ingress, domains: readonly string[]): AskedNames {
  const rules = (spec?.rules ?? []).map(({ host = '' }, at) => ({ host, field: `spec.rules[${at}].host` }))
  const tls = (spec?.tls ?? []).flatMap(({ hosts = [] }, at) =>
    hosts.map((host) => ({ host, field: `spec.tls[${at}].hosts` })),
  )
  return askedNames(metadata.annotations, [...rules, ...tls], domains)
}
