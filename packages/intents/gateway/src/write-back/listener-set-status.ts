import type { ConditionState } from '@spout/kube'
import type { Gateway } from '../objects/gateway.ts'
import type { ListenerSetStatus } from '../objects/listener-set.ts'
import { type Objection, objection } from '../to-model/fields/objection.ts'
import type { CompiledGateway, CompiledSet } from '../to-model/gateways/compile-gateway.ts'
import { isUsable } from '../to-model/listeners/listeners.ts'
import { mergedConditions, trueUnless } from './conditions.ts'
import { type GatewayOutcome, programmedObjection } from './gateway-status.ts'
import { acceptedFor, listenerStatuses, pendingOf } from './listener-status.ts'

const TYPES = ['Accepted', 'Programmed']

/** The ListenerSets that count as attached to a Gateway: the accepted ones. */
export const attachedSets = (compiled: CompiledGateway): readonly CompiledSet[] =>
  compiled.sets.filter((one) => refusalOf(one, compiled) === null)

/**
 * The status of a ListenerSet that names a Gateway of ours.
 * @param now RFC 3339, in seconds
 */
export function listenerSetStatus(
  one: CompiledSet,
  gateway: Pick<Gateway, 'spec'>,
  compiled: CompiledGateway,
  { progress }: Pick<GatewayOutcome, 'progress'>,
  now: string,
): Required<ListenerSetStatus> {
  const { metadata, status } = one.set
  const { generation = 0 } = metadata
  const refused = refusalOf(one, compiled)
  const notProgrammed = programmedObjection(progress, gateway)
  const wanted: ConditionState[] = [
    refused === null ? acceptedFor(one.listeners) : trueUnless('Accepted', refused, 'Accepted'),
    trueUnless('Programmed', refused ?? pendingOf(notProgrammed), 'Programmed'),
  ]
  return {
    conditions: mergedConditions(status?.conditions ?? [], wanted, TYPES, generation, now),
    listeners: listenerStatuses(one.listeners, {
      ...{ before: status?.listeners, generation, now },
      notProgrammed: refused ?? notProgrammed,
    }),
  }
}

/** Why a ListenerSet is not accepted; null when it is. */
function refusalOf({ isAllowed, listeners }: CompiledSet, compiled: CompiledGateway): Objection | null {
  if (!isAllowed) return objection('NotAllowed', 'allowedListeners of the Gateway does not allow its namespace.')
  if (compiled.refused !== null || !compiled.listeners.some(({ judged }) => isUsable(judged)))
    return objection('ParentNotAccepted', 'The Gateway is not accepted.')
  const { status, reason, message } = acceptedFor(listeners)
  return status === 'False' ? objection(reason, message) : null
}

/**
 * The status that the API gives a new ListenerSet: it waits for a controller. Conditions that say so already keep their
 * times.
 * @param now RFC 3339, in seconds
 */
export function unservedStatus(
  { conditions = [] }: ListenerSetStatus,
  generation: number,
  now: string,
): Required<ListenerSetStatus> {
  const wanted = TYPES.map((type): ConditionState => {
    return { type, status: 'Unknown', reason: 'Pending', message: 'Waiting for controller' }
  })
  return { conditions: mergedConditions(conditions, wanted, TYPES, generation, now), listeners: [] }
}
