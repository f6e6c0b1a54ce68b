import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import { isAdmin } from '../authn/access.ts'

/**
 * Refuses an id in the request for a new object unless the caller is an administrator, who moves objects here from
 * another Neutron. Neutron itself has no such attribute.
 * @param root of the request, such as `floatingip`
 * @throws SpoutError InvalidField
 */
export function refuseChosenId(principal: Principal, root: string, id: string | undefined): void {
  if (id === undefined || isAdmin(principal)) return
  throw new SpoutError('InvalidField', { field: `${root}.id`, reason: 'may be chosen by administrators only' })
}
