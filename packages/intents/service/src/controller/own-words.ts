import type { Refused } from '@spout/client/native-api'
import { type Refusal, reasonOf } from '@spout/connector'

/** The Service's field for each field of a load balancer. The first pattern that matches counts. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^vips\b|^address/, 'spec.loadBalancerIP'],
  [/^listeners\[\d+\]\.allowedCidrs/, 'spec.loadBalancerSourceRanges'],
  [/^listeners\b/, 'spec.ports'],
  [/^pools\[\d+\]\.monitor/, 'metadata.annotations[spout.dev/monitor]'],
  [/^classId\b/, 'spec.loadBalancerClass'],
  [/^dnsNames\b/, 'metadata.annotations[external-dns.kubernetes.io/hostname]'],
  [/^pools\b|^put\b|^members\b/, 'endpoints'],
]

/**
 * Translates a refusal of the control plane for the Service's user: the field that the user set, and only the reason.
 * The control plane names fields of its own call, which users of the cluster never see.
 * @param addressField the field in which the Service requests an address
 */
export function inOwnWords({ code, field, message }: Refused, addressField = 'spec.loadBalancerIP'): Refusal {
  const own = FIELDS.find(([pattern]) => pattern.test(field ?? ''))?.[1] ?? 'load balancer'
  return { reason: code, field: own === 'spec.loadBalancerIP' ? addressField : own, message: reasonOf(message) }
}
