import type { Progress, Refusal, ShownLoadBalancer } from '@spout/connector'
import { type ConditionState, type CustomStatus, statusOf } from '@spout/kube'
import type { LoadBalancerObject } from '../load-balancer-object.ts'

/**
 * The status of an object: whether all of it was accepted, whether the nodes serve it, and whether members answer.
 * @param problems why parts are not served as the spec requests
 */
export function statusFor(
  object: LoadBalancerObject,
  shown: ShownLoadBalancer | null,
  progress: Progress,
  problems: readonly Refusal[],
  now: Date,
): CustomStatus {
  const fields = shown === null ? {} : fieldsOf(shown)
  return statusOf(object, fields, [accepted(problems), programmed(progress), ...serving(shown)], now)
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
function serving(shown: ShownLoadBalancer | null): readonly ConditionState[] {
  const now = shown?.status.serving
  if (now === undefined) return []
  const status = now.state === 'no' ? 'False' : 'True'
  return [{ type: 'Serving', status, reason: now.reason, message: now.message }]
}
