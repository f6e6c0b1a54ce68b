import type { LoadBalancer } from '@spout/model'
import { inTurns, piecesOf } from '@spout/runtime'
import type { Resource } from '../resources/resource.ts'
import type { GraphEdit } from '../to-model/edit-graph.ts'
import { readingMembersAhead } from '../to-model/read-ahead.ts'
import { graphChange, readBody } from '../to-model/to-model.ts'
import type { Stamp } from '../wire/wire-type.ts'
import type { Call } from './route.ts'

/**
 * Reads the body of a creation. It may contain pools with thousands of members, which are read in pieces.
 * @throws OctaviaFault
 */
export async function readNew<D, R>(resource: Resource<D, R>, call: Call, blank: (stamp: Stamp) => D): Promise<D> {
  const stamp = await inTurns(readingMembersAhead(call.body, call.stamp), call.turn)
  return readBody(resource, 'create', call.body, stamp)(blank(stamp))
}

/**
 * Changes the children of a load balancer. For a request with a long body the outcome is validated in pieces.
 * @throws OctaviaFault and SpoutError as the edit and admission do
 */
export function changeChildren(
  { context: { admission }, turn }: Call,
  id: string,
  edit: GraphEdit,
): Promise<LoadBalancer> {
  const change = graphChange(edit)
  return turn === null
    ? admission.changeLoadBalancer(id, change)
    : admission.changeLongLoadBalancer(id, (current) => piecesOf(change(current)), turn)
}
