import type { Condition, ConditionState } from '@spout/kube'

/** On an object that is programmed: whether somebody answers behind it. */
export const CONDITION_SERVING = 'spout.dev/Serving'

/**
 * The condition that says whether members answer. It keeps the message of the moment when the reason changed: numbers
 * of members change all the time, and each new message would cause a write.
 */
export function servingCondition(
  { answers, reason, message }: { readonly answers: boolean; readonly reason: string; readonly message: string },
  before: readonly Condition[],
): ConditionState {
  const status = answers ? 'True' : 'False'
  const known = before.find(({ type }) => type === CONDITION_SERVING)
  const isSame = known?.status === status && known.reason === reason
  return { type: CONDITION_SERVING, status, reason, message: isSame ? known.message : message }
}
