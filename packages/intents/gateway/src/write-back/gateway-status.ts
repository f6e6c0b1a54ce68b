import { CONDITION_SERVING, type Progress, type Refusal, servingCondition, withPage } from '@spout/connector'
import type { ConditionState } from '@spout/kube'
import type { Serving } from '@spout/model'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import { CONDITION_ALL_ENDPOINTS, CONDITION_DNS_NAMES } from '../objects/names.ts'
import { type Objection, objection } from '../to-model/fields/objection.ts'
import type { CompiledGateway, CompiledListener } from '../to-model/gateways/compile-gateway.ts'
import { isInsecure } from '../to-model/listeners/client-certificates.ts'
import { mergedConditions, trueUnless } from './conditions.ts'
import { acceptedFor, listenerStatuses } from './listener-status.ts'

/** What became of the load balancer of a Gateway. */
export interface GatewayOutcome {
  readonly progress: Progress
  /** Addresses of the load balancer. */
  readonly addresses: readonly string[]
  /** Problems with its DNS names. */
  readonly nameNotices?: readonly Refusal[]
  /** Whether members answer; null or absent while unknown. */
  readonly serving?: Serving | null
  /** Where the web page shows it; null or absent without a load balancer, or a page. */
  readonly page?: string | null
}

const INSECURE = 'InsecureFrontendValidationMode'
const GATEWAY_TYPES = [
  ...['Accepted', 'Programmed', 'ResolvedRefs', INSECURE],
  ...[CONDITION_SERVING, CONDITION_DNS_NAMES, CONDITION_ALL_ENDPOINTS],
]

/**
 * The status of a Gateway, except the number of attached ListenerSets.
 * @param now RFC 3339, in seconds
 */
export function gatewayStatus(
  gateway: Gateway,
  { listeners, sets, refused, unresolved, crowded }: CompiledGateway,
  { progress, addresses, nameNotices = [], serving = null, page = null }: GatewayOutcome,
  now: string,
): Required<Omit<GatewayStatus, 'attachedListenerSets'>> {
  const { metadata, status } = gateway
  const { generation = 0 } = metadata
  const notProgrammed = programmedObjection(progress, gateway)
  const programmed = {
    ...trueUnless('Programmed', refused === null ? notProgrammed : objection('Invalid', refused.message), 'Programmed'),
    ...(refused === null && noticeOf(progress)),
  }
  const wanted: ConditionState[] = [
    refused === null ? acceptedFor(listeners) : trueUnless('Accepted', refused, 'Accepted'),
    { ...programmed, message: withPage(programmed.message, page) },
    trueUnless('ResolvedRefs', unresolved ?? unresolvedListeners(listeners), 'ResolvedRefs'),
    ...(isInsecure(gateway, listenersOf(listeners, sets)) ? [INSECURE_MODE] : []),
    ...(progress.type === 'programmed' && serving !== null
      ? [servingCondition({ ...serving, answers: serving.state !== 'no' }, status?.conditions ?? [], page)]
      : []),
    ...falseFor(CONDITION_DNS_NAMES, nameNotices),
    ...falseFor(CONDITION_ALL_ENDPOINTS, crowded),
  ]
  return {
    addresses: addresses.map((value) => ({ type: 'IPAddress', value })),
    conditions: mergedConditions(status?.conditions ?? [], wanted, GATEWAY_TYPES, generation, now),
    listeners: listenerStatuses(listeners, {
      ...{ before: status?.listeners, notProgrammed, generation, now },
      invalid: 'Invalid',
    }),
  }
}

/** The message of `Programmed` when it is True but its user should know something; null when there is nothing. */
const noticeOf = (progress: Progress): { readonly message: string } | null =>
  progress.type === 'programmed' && progress.notice !== null ? { message: progress.notice.message } : null

/** Shown only while a listener has the mode AllowInsecureFallback. */
const INSECURE_MODE: ConditionState = {
  ...{ type: INSECURE, status: 'True', reason: 'ConfigurationChanged' },
  message: 'Clients without a valid certificate are let in.',
}

const listenersOf = (own: readonly CompiledListener[], sets: CompiledGateway['sets']) =>
  [...own, ...sets.flatMap(({ listeners }) => listeners)].map(({ judged }) => judged.listener)

function unresolvedListeners(listeners: readonly CompiledListener[]): Objection | null {
  const names = listeners.filter(({ judged }) => judged.unresolved !== null).map(({ judged }) => judged.listener.name)
  return names.length === 0 ? null : objection('ListenersNotResolved', `Not resolved: ${names.join(', ')}.`)
}

/** The most notices that a condition names: a Gateway may have a thousand pools. */
const MOST_NOTICES = 20

/** A condition that exists only while there is something to say. */
function falseFor(type: string, notices: readonly Refusal[]): readonly ConditionState[] {
  const [first] = notices
  if (first === undefined) return []
  const more = notices.length > MOST_NOTICES ? [`And ${notices.length - MOST_NOTICES} more.`] : []
  const said = notices.slice(0, MOST_NOTICES).map((one) => `${one.field}: ${one.message}`)
  return [{ type, status: 'False', reason: first.reason, message: [...said, ...more].join(' ') }]
}

/** Why a Gateway is not `Programmed`; null once the nodes have confirmed the load balancer. */
export function programmedObjection(progress: Progress, { spec }: Pick<Gateway, 'spec'>): Objection | null {
  const isStatic = (spec.addresses ?? []).some(({ value }) => Boolean(value))
  switch (progress.type) {
    case 'programmed':
      return null
    case 'refused': {
      const { field, message } = progress.refusal
      if (!field.startsWith('spec.addresses')) return objection('NoResources', message)
      return objection(isStatic ? 'AddressNotUsable' : 'AddressNotAssigned', message)
    }
    case 'failed':
      return objection('NoResources', progress.message)
    default:
      return objection('Pending', progress.message)
  }
}
