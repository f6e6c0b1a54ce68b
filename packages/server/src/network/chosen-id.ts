import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import { isAdmin } from '../authn/access.ts'

/**
 * Only an administrator chooses the id of a new object, for one that was another Neutron's before. Neutron itself knows
 * no such attribute.
 * @param root of the request, such as `floatingip`
 * @throws SpoutError InvalidField
 */
export function requireChoice(principal: Principal, root: string, id: string | undefined): void {
  if (id === undefined || isAdmin(principal)) return
  throw new SpoutError('InvalidField', { field: `${root}.id`, reason: 'is chosen by administrators alone' })
}
