import type { ConditionState } from '@spout/kube'
import type { ListenerStatus } from '../objects/gateway.ts'
import { type Objection, objection } from '../to-model/fields/objection.ts'
import type { CompiledListener } from '../to-model/gateways/compile-gateway.ts'
import { isUsable } from '../to-model/listeners/listeners.ts'
import { mergedConditions, trueUnless } from './conditions.ts'

const TYPES = ['Accepted', 'Conflicted', 'ResolvedRefs', 'Programmed']

/** What the statuses of listeners depend on beside the listeners themselves. */
export interface ListenerContext {
  readonly before: readonly ListenerStatus[] | undefined
  readonly notProgrammed: Objection | null
  /** Generation of the Gateway or ListenerSet. */
  readonly generation: number
  /** RFC 3339, in seconds. */
  readonly now: string
  /**
   * The reason of `Programmed` for an invalid listener. Left out: the reason of its conflict, if it has one, or
   * `Invalid`.
   */
  readonly invalid?: string
}

/** The statuses of the listeners of a Gateway or of a ListenerSet. */
export const listenerStatuses = (
  listeners: readonly CompiledListener[],
  context: ListenerContext,
): readonly ListenerStatus[] =>
  listeners.map((one) => {
    const before = context.before?.find(({ name }) => name === one.judged.listener.name)
    return listenerStatus(one, before, context)
  })

function listenerStatus(
  { judged, attachedRoutes }: CompiledListener,
  before: ListenerStatus | undefined,
  { notProgrammed, generation, now, invalid }: ListenerContext,
): ListenerStatus {
  const { listener, kinds, refused, conflict, unresolved } = judged
  const bad = conflict ?? refused ?? unresolved
  const reason = invalid ?? conflict?.reason ?? 'Invalid'
  const wanted: ConditionState[] = [
    trueUnless('Accepted', refused ?? conflict, 'Accepted'),
    conflict === null
      ? { type: 'Conflicted', status: 'False', reason: 'NoConflicts', message: '' }
      : { type: 'Conflicted', status: 'True', ...conflict },
    trueUnless('ResolvedRefs', unresolved, 'ResolvedRefs'),
    trueUnless('Programmed', bad === null ? pendingOf(notProgrammed) : objection(reason, bad.message), 'Programmed'),
  ]
  return {
    name: listener.name,
    supportedKinds: kinds,
    attachedRoutes,
    conditions: mergedConditions(before?.conditions ?? [], wanted, TYPES, generation, now),
  }
}

/** The objection for `Programmed` of a listener or ListenerSet: for these the API has no reasons about addresses. */
export const pendingOf = (notProgrammed: Objection | null): Objection | null =>
  notProgrammed === null ? null : objection('Pending', notProgrammed.message)

/**
 * The condition `Accepted` of an object with these listeners. It is False only when no listener is valid; its message
 * names those that are not.
 */
export function acceptedFor(listeners: readonly CompiledListener[]): ConditionState {
  const invalid = listeners.filter(({ judged }) => !isUsable(judged))
  if (invalid.length === 0) return trueUnless('Accepted', null, 'Accepted')
  const names = invalid.map(({ judged }) => judged.listener.name).join(', ')
  const status = invalid.length === listeners.length ? 'False' : 'True'
  return { type: 'Accepted', status, ...objection('ListenersNotValid', `Not valid: ${names}.`) }
}
