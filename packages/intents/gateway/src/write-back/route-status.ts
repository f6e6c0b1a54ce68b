import { isDeepStrictEqual } from 'node:util'
import type { ConditionState } from '@spout/kube'
import { CONTROLLER_NAME } from '../objects/names.ts'
import type { ParentRef } from '../objects/references.ts'
import type { RouteObject, RouteParentStatus } from '../objects/route.ts'
import type { ParentOutcome } from '../to-model/gateways/route-outcome.ts'
import { mergedConditions, trueUnless } from './conditions.ts'

const TYPES = ['Accepted', 'ResolvedRefs', 'PartiallyInvalid']

/**
 * The entries of a route's status. We write those for our Gateways; entries of other controllers stay.
 * @param now RFC 3339, in seconds
 * @param isElsewhere whether a reference names a Gateway of another project, whose controller writes its entry
 */
export function routeParents(
  { metadata, status }: Pick<RouteObject, 'metadata' | 'status'>,
  outcomes: readonly ParentOutcome[],
  now: string,
  isElsewhere: (ref: ParentRef) => boolean = () => false,
): readonly RouteParentStatus[] {
  const { generation = 0 } = metadata
  const before = status?.parents ?? []
  const foreign = before.filter(
    ({ controllerName, parentRef }) => controllerName !== CONTROLLER_NAME || isElsewhere(parentRef),
  )
  const own = outcomes.map(({ ref, refused, partly, unresolved, idle }): RouteParentStatus => {
    const known = before.find((one) => one.controllerName === CONTROLLER_NAME && isDeepStrictEqual(one.parentRef, ref))
    const wanted: ConditionState[] = [
      { ...trueUnless('Accepted', refused, 'Accepted'), ...(refused === null && { message: idle }) },
      trueUnless('ResolvedRefs', unresolved, 'ResolvedRefs'),
      ...(partly === null ? [] : [{ type: 'PartiallyInvalid', status: 'True' as const, ...partly }]),
    ]
    return {
      parentRef: ref,
      controllerName: CONTROLLER_NAME,
      conditions: mergedConditions(known?.conditions ?? [], wanted, TYPES, generation, now),
    }
  })
  return [...foreign, ...own]
}
