import type { Condition, ConditionState } from '@spout/kube'

/** Condition of a programmed object: whether members answer. */
export const CONDITION_SERVING = 'spout.dev/Serving'

/**
 * The condition that says whether members answer. The message stays as it was when the reason last changed: it contains
 * numbers of members, which change all the time, and each new message would cost a write.
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
