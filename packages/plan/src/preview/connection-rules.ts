import type { ConnectionFateKind } from '@spout/model'
import type { Service } from '@spout/model/node-state'
import { isProxied, readsRequests } from '@spout/model/protocols'

/**
 * How nodes carry a listener's connections.
 *
 * - `tracked`: the kernel knows each flow, and its member.
 * - `forwarded`: each packet follows the current slots (return path `dsr`).
 * - `proxied`: the proxy has one connection with the client, and one with the member.
 * - `requests`: likewise, and each request chooses a member.
 */
type Carriage = 'tracked' | 'forwarded' | 'proxied' | 'requests'

export const carriageOf = ({ protocol }: Pick<Service, 'protocol'>, returnPath: string | null): Carriage => {
  if (isProxied(protocol)) return readsRequests(protocol) ? 'requests' : 'proxied'
  return returnPath === 'dsr' ? 'forwarded' : 'tracked'
}

interface Rule {
  readonly fate: ConnectionFateKind
  readonly message: string
}

/** What ends all connections of a load balancer, or of an address. */
export const ADDRESS_RULES = {
  Deleted: { fate: 'end', message: 'Its addresses are given up: every connection ends.' },
  Disabled: {
    fate: 'may-end',
    message: 'Nodes no longer announce its addresses: connections end once the network has forgotten where they were.',
  },
  AddressLeaves: { fate: 'end', message: 'The address is given up: connections to it end.' },
  NetworkChanges: { fate: 'end', message: 'Its members are in another network then: every connection ends.' },
  NotCarried: { fate: 'end', message: 'No node carries it then: every connection ends.' },
} as const satisfies Readonly<Record<string, Rule>>

/** What happens to open connections of a listener that is removed or disabled, or gets another port. */
export const LISTENER_RULES: Readonly<Record<Carriage, Rule>> = {
  tracked: {
    fate: 'stay',
    message: 'New connections are refused there. Open ones go on until they end by themselves.',
  },
  forwarded: { fate: 'end', message: 'Its packets are no longer forwarded: its connections end.' },
  proxied: {
    fate: 'stay',
    message: 'New connections are refused there. Open ones go on until they end by themselves.',
  },
  requests: {
    fate: 'stay',
    message: 'New connections are refused there. Open ones go on until they end by themselves.',
  },
}

/** What happens to open connections of a listener that is carried another way on the same port. */
export const PROTOCOL_RULE: Rule = {
  fate: 'end',
  message: 'What carries it then knows nothing of its open connections: they end.',
}

/** What happens to open connections to a member that leaves its pool, or gets weight 0. */
export const MEMBER_RULES = {
  drain: { fate: 'drain', message: 'No new connections. Open ones go on, and are cut when the time is over.' },
  cut: { fate: 'end', message: 'Its connections are cut at once: the pool gives them no time.' },
} as const satisfies Readonly<Record<string, Rule>>

/** Without state of flows, a hash slot that gets another member takes its connections there, which refuses them. */
export const SLOT_RULE: Rule = { fate: 'end', message: 'Connections of the hash slots that get another member end.' }

/** The addresses move to another node. Whether connections move along depends on the network. */
export const MOVE_RULES: Readonly<Record<'gateway' | 'dsr' | 'node' | 'snat', Rule>> = {
  gateway: { fate: 'may-end', message: 'The addresses move. Proxied connections and SCTP associations end.' },
  dsr: { fate: 'stay', message: 'The addresses move. Nodes keep no state of connections: they go on.' },
  node: { fate: 'may-end', message: 'The addresses move. Proxied connections end.' },
  snat: {
    fate: 'may-end',
    message: 'The addresses move. Connections end where nodes do not replicate flows; proxied ones end.',
  },
}
