import type { Refused } from '@spout/client/native-api'
import { type AddressFields, type Refusal, type RefusedHost, reasonOf, shown } from '@spout/connector'
import { ALIAS_FIELD } from '../to-model/hosts.ts'

/** An Ingress names no address; its class names a class of load balancers. */
export const ADDRESS_FIELDS: AddressFields = {
  addresses: 'spec',
  pools: 'spec',
  families: 'spec',
  loadBalancerClass: 'spec.ingressClassName',
}

/** The control plane names fields of its own call, which users of the cluster never see. */
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

/** The name of a route says which rule has the host. */
export const hostRefusal = ({ host, reason, route }: RefusedHost): Refusal => {
  const rule = /spec\.rules\[\d+\]/.exec(route)?.[0]
  const field = route.includes(' alias ') || rule === undefined ? ALIAS_FIELD : `${rule}.host`
  return { reason: 'HostNotAllowed', field, message: `"${shown(host)}" is not served: ${reason}.` }
}
