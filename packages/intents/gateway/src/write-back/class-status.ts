import type { GatewayClass } from '../objects/gateway-class.ts'
import { SUPPORTED_FEATURES } from '../objects/names.ts'
import { objection } from '../to-model/fields/objection.ts'
import { loadBalancerClassOf } from '../to-model/gateways/class-parameters.ts'
import { mergedConditions, trueUnless } from './conditions.ts'

/**
 * The status of a GatewayClass of ours.
 * @param now RFC 3339, in seconds
 */
export function classStatus(one: GatewayClass, now: string): Required<GatewayClass>['status'] {
  const { metadata, status } = one
  const named = loadBalancerClassOf(one)
  const parameters =
    'refusal' in named ? objection(named.refusal.reason, `parametersRef: ${named.refusal.message}`) : null
  const wanted = [trueUnless('Accepted', parameters, 'Accepted')]
  return {
    conditions: mergedConditions(status?.conditions ?? [], wanted, [], metadata.generation ?? 0, now),
    supportedFeatures: SUPPORTED_FEATURES.map((name) => ({ name })),
  }
}
