import { type Progress, type Refusal, type ShownLoadBalancer, withPage } from '@spout/connector'
import { type ConditionState, type CustomStatus, statusOf } from '@spout/kube'
import type { LoadBalancerObject } from '../load-balancer-object.ts'

/**
 * The status of an object: whether all of it was accepted, whether the nodes serve it, and whether members answer.
 * @param problems why parts are not served as the spec requests
 * @param page where the web page shows its load balancer; null for none
 */
export function statusFor(
  object: LoadBalancerObject,
  shown: ShownLoadBalancer | null,
  progress: Progress,
  problems: readonly Refusal[],
  page: string | null,
  now: Date,
): CustomStatus {
  const fields = shown === null ? {} : fieldsOf(shown)
  const own = programmed(progress)
  const conditions = [accepted(problems), { ...own, message: withPage(own.message, page) }, ...serving(shown, page)]
  return statusOf(object, fields, conditions, now)
}

function fieldsOf({ document: { id, vips }, status }: ShownLoadBalancer) {
  const { members = 0, membersUp = 0 } = status.serving ?? {}
  return { id, addresses: vips.map(({ address }) => address), members: { total: members, up: membersUp } }
}

function accepted(problems: readonly Refusal[]): ConditionState {
  const [first] = problems
  if (first === undefined) return { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' }
  const message = problems.map(({ field, message: text }) => `${field}: ${text}`).join(' ')
  return { type: 'Accepted', status: 'False', reason: first.reason, message }
}

function programmed(progress: Progress): ConditionState {
  const type = 'Programmed'
  switch (progress.type) {
    case 'programmed':
      return {
        type,
        status: 'True',
        reason: 'Programmed',
        message: progress.notice?.message ?? 'The nodes that announce it serve it.',
      }
    case 'pending':
      return { type, status: 'Unknown', reason: progress.reason, message: progress.message }
    case 'failed':
      return { type, status: 'False', reason: progress.reason, message: progress.message }
    case 'refused':
      return {
        ...{ type, status: 'False', reason: progress.refusal.reason },
        message: `${progress.refusal.field}: ${progress.refusal.message}`,
      }
  }
}

/** The condition `Serving`; absent while the state is unknown. */
function serving(shown: ShownLoadBalancer | null, page: string | null): readonly ConditionState[] {
  const now = shown?.status.serving
  if (now === undefined) return []
  const type = 'Serving'
  if (now.state === 'no') return [{ type, status: 'False', reason: now.reason, message: withPage(now.message, page) }]
  return [{ type, status: 'True', reason: now.reason, message: now.message }]
}
