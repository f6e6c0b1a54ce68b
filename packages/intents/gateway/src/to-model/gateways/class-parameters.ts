import { type OrRefusal, refuse } from '@spout/connector'
import type { GatewayClass } from '../../objects/gateway-class.ts'

/**
 * The class of load balancers that a GatewayClass names in `spec.parametersRef`. The control plane decides whether the
 * project may use it.
 *
 * @returns null when it names none
 */
export function loadBalancerClassOf({ spec: { parametersRef } }: GatewayClass): OrRefusal<string | null> {
  if (parametersRef === undefined) return { value: null }
  const { group, kind, name, namespace } = parametersRef
  if (group === 'spout.dev' && kind === 'LoadBalancerClass' && namespace === undefined) return { value: name }
  return refuse(
    'InvalidParameters',
    'parametersRef',
    'must be of group spout.dev and kind LoadBalancerClass, and without a namespace.',
  )
}
