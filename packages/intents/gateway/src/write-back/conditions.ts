import type { Condition } from '@spout/kube'
import type { Objection } from '../to-model/verdict.ts'

/** A condition before it has its time. */
export type WantedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

const LONGEST_MESSAGE = 1024

/** True, or False with the objection. @param reason of the good case */
export const trueUnless = (type: string, objection: Objection | null, reason: string): WantedCondition =>
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
  wanted: readonly WantedCondition[],
  ours: readonly string[],
  generation: number,
  now: string,
): readonly Condition[] {
  const own = wanted.map((one): Condition => {
    const known = before.find(({ type }) => type === one.type)
    return {
      ...one,
      message: one.message.slice(0, LONGEST_MESSAGE),
      observedGeneration: generation,
      lastTransitionTime: known?.status === one.status ? known.lastTransitionTime : now,
    }
  })
  const types = new Set([...ours, ...wanted.map(({ type }) => type)])
  return [...own, ...before.filter(({ type }) => !types.has(type))]
}
