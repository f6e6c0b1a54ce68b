import { isBehind, type ListenerProtocol, type Transport, transportOf } from '@spout/model/protocols'
import { cidrsOverlap, parseCidr } from '@spout/net'

/** A connection that somebody opens to an address of a load balancer. */
export interface AskedConnection {
  readonly transport: Transport
  readonly port: number
  /** The client's address; null if it is not known. It is then not compared with lists of sources. */
  readonly source: string | null
}

export interface AskedListener {
  readonly protocol: ListenerProtocol
  readonly port: number
  /** Whether it and its load balancer are enabled. */
  readonly answers: boolean
  /** The only sources that may connect; null: all. */
  readonly allowedCidrs: readonly string[] | null
}

/**
 * `takes`: it gets the connection. `refuses`: it would, but not from this source. `behind`: it gets what the listener
 * of its port that passes TLS on has no route for.
 */
export type ListenerVerdict = 'takes' | 'refuses' | 'behind' | 'disabled' | 'other-transport' | 'other-port'

export interface ListenerDecision<Listener> {
  readonly listener: Listener
  readonly verdict: ListenerVerdict
}

/** Which of a load balancer's listeners gets the connection, and why each of the others does not. Pure. */
export function explainListeners<Listener extends AskedListener>(
  listeners: readonly Listener[],
  connection: AskedConnection,
): readonly ListenerDecision<Listener>[] {
  const answering = listeners.filter(({ answers }) => answers)
  return listeners.map((listener) => ({ listener, verdict: verdictOf(listener, answering, connection) }))
}

function verdictOf(
  listener: AskedListener,
  answering: readonly AskedListener[],
  { transport, port, source }: AskedConnection,
): ListenerVerdict {
  if (listener.port !== port) return 'other-port'
  if (transportOf(listener.protocol) !== transport) return 'other-transport'
  if (!listener.answers) return 'disabled'
  if (isBehind(listener, answering)) return 'behind'
  return source === null || admits(listener, source) ? 'takes' : 'refuses'
}

const admits = ({ allowedCidrs }: AskedListener, source: string): boolean =>
  allowedCidrs === null || allowedCidrs.some((network) => cidrsOverlap(parseCidr(network), hostCidr(source)))

const hostCidr = (address: string) => parseCidr(`${address}/${address.includes(':') ? 128 : 32}`)
