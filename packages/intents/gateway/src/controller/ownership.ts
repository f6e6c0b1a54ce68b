import { CONTROLLER_NAME } from '../names.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'

/**
 * `ours`: it is to be served. `deleting`: it was, and is being deleted. `released`: it was, and is of another controller
 * now. `foreign`: it is none of ours, and nothing of it is written.
 */
export type Ownership = 'ours' | 'deleting' | 'released' | 'foreign'

export const isOurClass = ({ spec }: GatewayClass): boolean => spec.controllerName === CONTROLLER_NAME

/**
 * @param gatewayClass of the Gateway; undefined when there is none
 * @param isClaimed whether we have served it: then it stays when its class goes, or is not accepted any more
 */
export function ownershipOf(
  { metadata }: Gateway,
  gatewayClass: GatewayClass | undefined,
  isClaimed: boolean,
): Ownership {
  if (metadata.deletionTimestamp !== undefined) return isClaimed ? 'deleting' : 'foreign'
  if (gatewayClass === undefined) return isClaimed ? 'ours' : 'foreign'
  if (!isOurClass(gatewayClass)) return isClaimed ? 'released' : 'foreign'
  return isClaimed || gatewayClass.spec.parametersRef === undefined ? 'ours' : 'foreign'
}
