import type { Condition, ConditionState } from '@spout/kube'
import { withPage } from './page-link.ts'

/** Condition of a programmed object: whether members answer. */
export const CONDITION_SERVING = 'spout.dev/Serving'

/**
 * The condition that says whether members answer. The message stays as it was when the reason last changed: it contains
 * numbers of members, which change all the time, and each new message would cost a write.
 * @param page where the web page shows it; named while none answers
 */
export function servingCondition(
  { answers, reason, message }: { readonly answers: boolean; readonly reason: string; readonly message: string },
  before: readonly Condition[],
  page: string | null = null,
): ConditionState {
  const status = answers ? 'True' : 'False'
  const known = before.find(({ type }) => type === CONDITION_SERVING)
  const isSame = known?.status === status && known.reason === reason
  const now = answers ? message : withPage(message, page)
  return { type: CONDITION_SERVING, status, reason, message: isSame ? known.message : now }
}
