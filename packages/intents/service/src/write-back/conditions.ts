import { type Progress, servingCondition } from '@spout/connector'
import type { Condition } from '@spout/kube'
import { CONDITION_EXTERNAL_IPS, CONDITION_PORTS_ERROR, CONDITION_PROGRAMMED } from '../names.ts'
import type { RefusedExternal } from '../to-model/external-ips.ts'
import type { Answering } from './answering.ts'
import type { ShownPort } from './ingress.ts'

const LONGEST_MESSAGE = 1024

export interface ConditionsInput {
  readonly progress: Progress
  readonly ports: readonly ShownPort[]
  readonly refusedExternals: readonly RefusedExternal[]
  readonly answering: Answering | null
  readonly before: readonly Condition[]
  /** RFC 3339, in seconds. */
  readonly now: string
}

/** Our conditions. A condition's time stays while its status does, so that unchanged conditions cause no write. */
export function conditionsOf({
  progress,
  ports,
  refusedExternals,
  answering,
  before,
  now,
}: ConditionsInput): readonly Condition[] {
  const wanted = [programmed(progress)]
  if (progress.type === 'programmed' && answering !== null) wanted.push(servingCondition(answering, before))
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
  return wanted.map((condition) => {
    const known = before.find(({ type }) => type === condition.type)
    const since = known?.status === condition.status ? known.lastTransitionTime : now
    return { ...condition, message: condition.message.slice(0, LONGEST_MESSAGE), lastTransitionTime: since }
  })
}

function programmed(progress: Progress): Omit<Condition, 'lastTransitionTime'> {
  const type = CONDITION_PROGRAMMED
  switch (progress.type) {
    case 'refused': {
      const { reason, field, message } = progress.refusal
      return { type, status: 'False', reason: wordOf(reason), message: `${field}: ${message}` }
    }
    case 'programmed':
      return progress.notice === null
        ? { type, status: 'True', reason: 'Programmed', message: 'The nodes that announce the address have it.' }
        : { type, status: 'True', reason: wordOf(progress.notice.reason), message: progress.notice.message }
    default:
      return { type, status: 'False', reason: wordOf(progress.reason), message: progress.message }
  }
}

/** A reason that the API server accepts. */
const wordOf = (text: string): string => (/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(text) ? text : 'Other')
