import type { Refused } from '@spout/client/native-api'
import { type Refusal, reasonOf } from '@spout/connector'

/** Parts of a load balancer, by what of a Service they are made of. The first that fits counts. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^vips\b|^address/, 'spec.loadBalancerIP'],
  [/^listeners\[\d+\]\.allowedCidrs/, 'spec.loadBalancerSourceRanges'],
  [/^listeners\b/, 'spec.ports'],
  [/^pools\[\d+\]\.monitor/, 'metadata.annotations[spout.dev/monitor]'],
  [/^pools\b|^put\b|^members\b/, 'endpoints'],
]

/**
 * A refusal of the control plane in the words of the Service: the field that its user set, and the reason alone. The
 * control plane names fields of its own call, which nobody of the cluster ever saw.
 * @param addressField where the Service says which address it wants
 */
export function inOwnWords({ code, field, message }: Refused, addressField = 'spec.loadBalancerIP'): Refusal {
  const own = FIELDS.find(([pattern]) => pattern.test(field ?? ''))?.[1] ?? 'load balancer'
  return { reason: code, field: own === 'spec.loadBalancerIP' ? addressField : own, message: reasonOf(message) }
}
