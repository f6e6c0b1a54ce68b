import { isDeepStrictEqual } from 'node:util'
import type { ConditionState } from '@spout/kube'
import { CONTROLLER_NAME } from '../names.ts'
import type { ParentRef } from '../objects/references.ts'
import type { RouteObject, RouteParentStatus } from '../objects/route.ts'
import type { Objection } from '../to-model/verdict.ts'
import { mergedConditions, trueUnless } from './conditions.ts'

/** What a route's attachment to one of our Gateways came to. */
export interface ParentOutcome {
  readonly ref: ParentRef
  /** Why it is not attached. */
  readonly refused: Objection | null
  /** Why some of its rules are dropped. */
  readonly partly: Objection | null
  readonly unresolved: Objection | null
  /** Why it gets nothing although it is accepted; empty otherwise. */
  readonly idle: string
}

const TYPES = ['Accepted', 'ResolvedRefs', 'PartiallyInvalid']

/**
 * The entries of a route's status: ours for the parents that are our Gateways, and those of other controllers as they
 * are.
 * @param now RFC 3339, in seconds
 * @param isElsewhere whether a reference leads to a Gateway of another project: its entry is not ours to write
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
