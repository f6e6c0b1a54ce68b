import { endsTls, type Listener, type LoadBalancer, sameJson, transportOf } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/**
 * Listeners with the same transport and port. Only two may share a port: one that forwards TLS for the server names of
 * its routes, and one that terminates TLS for all others. The packet path does not distinguish them, so both must have
 * the same limit and sources.
 */
export function* portProblems({ listeners }: Pick<LoadBalancer, 'listeners'>): Generator<Problem> {
  const taken = new Map<string, { readonly index: number; readonly listener: Listener }[]>()
  for (const [index, listener] of listeners.entries()) {
    const protocol = transportOf(listener.protocol)
    const key = `${protocol}/${listener.port}`
    const others = taken.get(key) ?? []
    const at = `listeners[${index}]`
    if (others.length > 1 || others.some((other) => !passesAndEnds(other.listener, listener)))
      yield problem('PortTaken', { field: `${at}.port`, protocol, port: listener.port })
    for (const other of others) yield* sharingProblems({ index, listener }, other)
    taken.set(key, [...others, { index, listener }])
  }
}

const passesAndEnds = (one: Listener, other: Listener): boolean =>
  [one, other].some(({ protocol }) => protocol === 'tls-passthrough') &&
  [one, other].some(({ protocol }) => endsTls(protocol))

type Placed = { readonly index: number; readonly listener: Listener }

function* sharingProblems(own: Placed, other: Placed): Generator<Problem> {
  const [passing, ending] = own.listener.protocol === 'tls-passthrough' ? [own, other] : [other, own]
  if (passing.listener.defaultPoolId !== null)
    yield problem('InvalidField', {
      field: `listeners[${passing.index}].defaultPoolId`,
      reason: `what no route takes goes to listener ${ending.listener.id}, which ends TLS on the same port`,
    })
  for (const field of ['allowedCidrs', 'connectionLimit'] as const)
    if (!sameJson(own.listener[field], other.listener[field]))
      yield problem('InvalidField', {
        field: `listeners[${own.index}].${field}`,
        reason: `differs from that of listener ${other.listener.id}, which has the same port`,
      })
}
