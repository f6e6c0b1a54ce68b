import { type Condition, type ConditionState, dated } from '@spout/kube'
import type { Objection } from '../to-model/fields/objection.ts'

/**
 * A condition that is True, or False with the reason and message of an objection.
 * @param reason used while it is True
 */
export const trueUnless = (type: string, objection: Objection | null, reason: string): ConditionState =>
  objection === null
    ? { type, status: 'True', reason, message: '' }
    : { type, status: 'False', reason: objection.reason, message: objection.message }

/**
 * Merges the wanted conditions into the present ones. A condition keeps its transition time while its status is the
 * same. Conditions of other types, which somebody else wrote, stay as they are.
 * @param ours our types: a condition of such a type is removed when it is not wanted
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
