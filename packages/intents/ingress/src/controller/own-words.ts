import type { Refused } from '@spout/client/native-api'
import { type AddressFields, type Refusal, type RefusedHost, reasonOf, shown } from '@spout/connector'
import { ALIAS_FIELD } from '../to-model/hosts.ts'

/**
 * The fields that refusals of addresses name. An Ingress cannot request an address; its class may name a class of load
 * balancers.
 */
export const ADDRESS_FIELDS: AddressFields = {
  addresses: 'spec',
  pools: 'spec',
  families: 'spec',
  loadBalancerClass: 'spec.ingressClassName',
}

/** Translates fields of calls to the control plane to fields that users of Ingresses know. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^listeners\[\d+\]\.tls/, 'spec.tls'],
  [/^listeners\b/, 'spec.rules'],
  [/^classId\b/, 'spec.ingressClassName'],
  [/^pools\b|^put\b|^members\b/, 'endpoints'],
]

/** Translates a refusal of the control plane for the users of Ingresses. */
export const inOwnWords = ({ code, field, message }: Refused): Refusal => ({
  reason: code,
  field: FIELDS.find(([pattern]) => pattern.test(field ?? ''))?.[1] ?? 'load balancer',
  message: reasonOf(message),
})

/** The refusal of a host, which names the rule that has it. The name of the route contains that rule. */
export const hostRefusal = ({ host, reason, route }: RefusedHost): Refusal => {
  const rule = /spec\.rules\[\d+\]/.exec(route)?.[0]
  const field = route.includes(' alias ') || rule === undefined ? ALIAS_FIELD : `${rule}.host`
  return { reason: 'HostNotAllowed', field, message: `"${shown(host)}" is not served: ${reason}.` }
}
