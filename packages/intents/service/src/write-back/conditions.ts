import { type Progress, servingCondition, withPage } from '@spout/connector'
import { type Condition, type ConditionState, dated } from '@spout/kube'
import { CONDITION_EXTERNAL_IPS, CONDITION_PORTS_ERROR, CONDITION_PROGRAMMED } from '../names.ts'
import type { RefusedExternal } from '../to-model/external-ips.ts'
import type { Answering } from './answering.ts'
import type { ShownPort } from './ingress.ts'

export interface ConditionsInput {
  readonly progress: Progress
  readonly ports: readonly ShownPort[]
  readonly refusedExternals: readonly RefusedExternal[]
  readonly answering: Answering | null
  /** Where the web page shows its load balancer; null when it has none, or the page has no address. */
  readonly page: string | null
  readonly before: readonly Condition[]
  /** RFC 3339, in seconds. */
  readonly now: string
}

/** Our conditions of a Service. */
export function conditionsOf({
  progress,
  ports,
  refusedExternals,
  answering,
  page,
  before,
  now,
}: ConditionsInput): readonly Condition[] {
  const own = programmed(progress)
  const wanted = [{ ...own, message: withPage(own.message, page) }]
  if (progress.type === 'programmed' && answering !== null) wanted.push(servingCondition(answering, before, page))
  const [first] = refusedExternals
  if (first !== undefined)
    wanted.push({
      type: CONDITION_EXTERNAL_IPS,
      status: 'False',
      reason: refusedExternals.length === 1 ? wordOf(first.refusal.reason) : 'ExternalIPsRefused',
      message: refusedExternals.map(({ address, refusal }) => `${address}: ${refusal.message}`).join('; '),
    })
  const wrong = ports.filter(({ error }) => error !== null)
  if (wrong.length > 0)
    wanted.push({
      type: CONDITION_PORTS_ERROR,
      status: 'True',
      reason: 'PortsNotServed',
      message: wrong.map(({ port, message }) => `${port.key}: ${message}`).join('; '),
    })
  return dated(before, wanted, now)
}

function programmed(progress: Progress): ConditionState {
  const type = CONDITION_PROGRAMMED
  switch (progress.type) {
    case 'refused': {
      const { reason, field, message } = progress.refusal
      return { type, status: 'False', reason: wordOf(reason), message: `${field}: ${message}` }
    }
    case 'programmed':
      return progress.notice === null
        ? { type, status: 'True', reason: 'Programmed', message: 'The nodes that announce the address serve it.' }
        : { type, status: 'True', reason: wordOf(progress.notice.reason), message: progress.notice.message }
    default:
      return { type, status: 'False', reason: wordOf(progress.reason), message: progress.message }
  }
}

/** A reason that the API server accepts. */
const wordOf = (text: string): string => (/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(text) ? text : 'Other')
