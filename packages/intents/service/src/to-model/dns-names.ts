import { type AskedNames, askedNames, type Refusal, tooManyNames } from '@spout/connector'
import type { Service } from '@spout/kube'
import { MOST_DNS_NAMES } from '@spout/model'

/** The DNS names that a Service asks for, and why some of them are not used. */
export function dnsNamesOf({ metadata }: Service): AskedNames & { readonly notice: Refusal | null } {
  const asked = askedNames(metadata.annotations)
  const dnsNames = asked.dnsNames.slice(0, MOST_DNS_NAMES)
  return { ...asked, dnsNames, notice: asked.notices[0] ?? tooManyNames(asked, dnsNames) }
}
