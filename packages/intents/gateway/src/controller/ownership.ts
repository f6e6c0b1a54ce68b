import type { Gateway } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import { CONTROLLER_NAME } from '../objects/names.ts'
import { loadBalancerClassOf } from '../to-model/gateways/class-parameters.ts'

/**
 * `ours`: we serve it. `deleting`: we served it, and it is being deleted. `released`: we served it, and another
 * controller does now. `foreign`: it belongs to another controller, and we write nothing to it.
 */
export type Ownership = 'ours' | 'deleting' | 'released' | 'foreign'

export const isOurClass = ({ spec }: GatewayClass): boolean => spec.controllerName === CONTROLLER_NAME

/**
 * @param gatewayClass of the Gateway; undefined when it does not exist
 * @param isClaimed whether we have served the Gateway: then we keep it when its class is deleted or no longer accepted
 */
export function ownershipOf(
  { metadata }: Gateway,
  gatewayClass: GatewayClass | undefined,
  isClaimed: boolean,
): Ownership {
  if (metadata.deletionTimestamp !== undefined) return isClaimed ? 'deleting' : 'foreign'
  if (gatewayClass === undefined) return isClaimed ? 'ours' : 'foreign'
  if (!isOurClass(gatewayClass)) return isClaimed ? 'released' : 'foreign'
  return isClaimed || 'value' in loadBalancerClassOf(gatewayClass) ? 'ours' : 'foreign'
}
