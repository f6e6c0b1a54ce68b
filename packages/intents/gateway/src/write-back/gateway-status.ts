import type { Progress, Refusal } from '@spout/connector'
import { CONDITION_DNS_NAMES } from '../names.ts'
import type { Gateway, GatewayStatus, ListenerStatus } from '../objects/gateway.ts'
import type { CompiledGateway, CompiledListener } from '../to-model/compile-gateway.ts'
import { isUsable } from '../to-model/listeners.ts'
import { type Objection, objection } from '../to-model/verdict.ts'
import { mergedConditions, trueUnless, type WantedCondition } from './conditions.ts'

/** What happened to the load balancer of a Gateway. */
export interface GatewayOutcome {
  readonly progress: Progress
  /** Of the load balancer. */
  readonly addresses: readonly string[]
  /** What is wrong with its names. */
  readonly nameNotices?: readonly Refusal[]
}

const GATEWAY_TYPES = ['Accepted', 'Programmed', 'ResolvedRefs', CONDITION_DNS_NAMES]
const LISTENER_TYPES = ['Accepted', 'Conflicted', 'ResolvedRefs', 'Programmed']

/** @param now RFC 3339, in seconds */
export function gatewayStatus(
  { metadata, status, spec }: Gateway,
  { listeners, refused, unresolved }: CompiledGateway,
  { progress, addresses, nameNotices = [] }: GatewayOutcome,
  now: string,
): Required<GatewayStatus> {
  const { generation = 0 } = metadata
  const notProgrammed = programmedObjection(
    progress,
    (spec.addresses ?? []).some(({ value }) => Boolean(value)),
  )
  const invalid = listeners.filter(({ judged }) => !isUsable(judged))
  const names = invalid.map(({ judged }) => judged.listener.name).join(', ')
  const wanted: WantedCondition[] = [
    accepted(refused, names, invalid.length === listeners.length),
    trueUnless('Programmed', refused === null ? notProgrammed : objection('Invalid', refused.message), 'Programmed'),
    trueUnless('ResolvedRefs', unresolved ?? unresolvedListeners(listeners), 'ResolvedRefs'),
    ...namesNotPublished(nameNotices),
  ]
  return {
    addresses: addresses.map((value) => ({ type: 'IPAddress', value })),
    conditions: mergedConditions(status?.conditions ?? [], wanted, GATEWAY_TYPES, generation, now),
    listeners: listeners.map((one) => {
      const before = status?.listeners?.find(({ name }) => name === one.judged.listener.name)
      return listenerStatus(one, before, notProgrammed, generation, now)
    }),
  }
}

function unresolvedListeners(listeners: readonly CompiledListener[]): Objection | null {
  const names = listeners.filter(({ judged }) => judged.unresolved !== null).map(({ judged }) => judged.listener.name)
  return names.length === 0 ? null : objection('ListenersNotResolved', `Not resolved: ${names.join(', ')}.`)
}

/** There is no such condition while all names can be published. */
function namesNotPublished(notices: readonly Refusal[]): readonly WantedCondition[] {
  const [first] = notices
  if (first === undefined) return []
  const message = notices.map((one) => `${one.field}: ${one.message}`).join(' ')
  return [{ type: CONDITION_DNS_NAMES, status: 'False', reason: first.reason, message }]
}

/** A Gateway is accepted with some listeners that are not, and says so; without any good one it is not. */
function accepted(refused: Objection | null, invalid: string, none: boolean): WantedCondition {
  if (refused !== null) return trueUnless('Accepted', refused, 'Accepted')
  if (invalid === '') return trueUnless('Accepted', null, 'Accepted')
  const status = none ? 'False' : 'True'
  return { type: 'Accepted', status, reason: 'ListenersNotValid', message: `Not valid: ${invalid}.` }
}

function listenerStatus(
  { judged, attachedRoutes }: CompiledListener,
  before: ListenerStatus | undefined,
  notProgrammed: Objection | null,
  generation: number,
  now: string,
): ListenerStatus {
  const { listener, kinds, refused, conflict, unresolved } = judged
  const bad = conflict ?? refused ?? unresolved
  const wanted: WantedCondition[] = [
    trueUnless('Accepted', refused ?? conflict, 'Accepted'),
    conflict === null
      ? { type: 'Conflicted', status: 'False', reason: 'NoConflicts', message: '' }
      : { type: 'Conflicted', status: 'True', ...conflict },
    trueUnless('ResolvedRefs', unresolved, 'ResolvedRefs'),
    trueUnless('Programmed', bad === null ? pendingOf(notProgrammed) : objection('Invalid', bad.message), 'Programmed'),
  ]
  return {
    name: listener.name,
    supportedKinds: kinds,
    attachedRoutes,
    conditions: mergedConditions(before?.conditions ?? [], wanted, LISTENER_TYPES, generation, now),
  }
}

/** Listeners have no reasons of addresses. */
const pendingOf = (notProgrammed: Objection | null): Objection | null =>
  notProgrammed === null ? null : objection('Pending', notProgrammed.message)

/** True only once the nodes have said so. */
function programmedObjection(progress: Progress, isStatic: boolean): Objection | null {
  switch (progress.type) {
    case 'programmed':
      return null
    case 'refused':
      return objection(isStatic ? 'AddressNotUsable' : 'AddressNotAssigned', progress.refusal.message)
    case 'failed':
      return objection('NoResources', progress.message)
    default:
      return objection('Pending', progress.message)
  }
}
