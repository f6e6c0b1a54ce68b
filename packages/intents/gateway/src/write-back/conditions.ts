import { type Condition, type ConditionState, dated } from '@spout/kube'
import type { Objection } from '../to-model/fields/objection.ts'

/** True, or False with the objection. @param reason of the good case */
export const trueUnless = (type: string, objection: Objection | null, reason: string): ConditionState =>
  objection === null
    ? { type, status: 'True', reason, message: '' }
    : { type, status: 'False', reason: objection.reason, message: objection.message }

/**
 * Conditions as they are to be shown. The time of one stays while its status does. Those of other types that somebody
 * else wrote stay as they are.
 * @param ours types that are ours: those that are not wanted go
 * @param now RFC 3339, in seconds
 */
export function mergedConditions(
  before: readonly Condition[],
  wanted: readonly ConditionState[],
  ours: readonly string[],
  generation: number,
  now: string,
): readonly Condition[] {
  const observed = wanted.map((one) => ({ ...one, observedGeneration: generation }))
  const types = new Set([...ours, ...wanted.map(({ type }) => type)])
  return [...dated(before, observed, now), ...before.filter(({ type }) => !types.has(type))]
}
