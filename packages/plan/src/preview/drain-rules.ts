import type { DrainFate, Network } from '@spout/model'
import type { Service } from '@spout/model/node-state'
import { isProxied, transportOf } from '@spout/model/protocols'

type Rule = Pick<DrainFate, 'fate' | 'message'>

/**
 * What happens to open connections when their node is drained and their addresses move. Docs: failover.md, "Planned
 * moves".
 */
export const DRAIN_RULES = {
  OnlyHere: { fate: 'end', message: 'Only this node knows them: they end when the addresses move.' },
  Associations: { fate: 'end', message: 'SCTP associations are not known to the next node: they end.' },
  ProxiedAtOnce: { fate: 'end', message: 'Proxied: the group gives them no second chance, so they end with the move.' },
  Proxied: {
    fate: 'drain',
    message: 'Proxied: they stay on this node, which asks clients to reconnect, and end when the time is over.',
  },
  NoState: { fate: 'stay', message: 'Nodes keep no state of them: they go on through the other nodes.' },
  ByMember: { fate: 'stay', message: "Their members' nodes know them: they go on through the other nodes." },
  ThroughGateway: { fate: 'stay', message: 'They go on through the next node, which learns of each from its packets.' },
  LedBack: {
    fate: 'stay',
    message: 'Members see this node: they stay on it, and the next node sends their packets to it while it runs.',
  },
  LedBackInTime: {
    fate: 'drain',
    message:
      'Members see this node: they stay on it, and the next node sends their packets to it until the time is over.',
  },
  Replicated: { fate: 'stay', message: 'The nodes replicate their flows: they go on through the next node.' },
} as const satisfies Readonly<Record<string, Rule>>

export type DrainRule = keyof typeof DRAIN_RULES

interface Around {
  readonly returnPath: Network['returnPath']
  /** Whether the node replicates its flows to those that can take over, and members see an address that they share. */
  readonly isReplicated: boolean
  /** Whether the nodes elect the owners of addresses: each then knows the others, whatever is planned. */
  readonly elects: boolean
  /** `NodeGroup.secondChanceSeconds`. */
  readonly secondChanceSeconds: number
}

/** The rule for connections of a listener. */
export function drainRuleOf({ protocol }: Pick<Service, 'protocol'>, around: Around): DrainRule {
  if (isProxied(protocol)) return around.secondChanceSeconds === 0 ? 'ProxiedAtOnce' : 'Proxied'
  if (around.returnPath === 'dsr') return 'NoState'
  if (around.returnPath === 'node') return 'ByMember'
  if (transportOf(protocol) === 'sctp') return 'Associations'
  if (around.returnPath === 'gateway') return 'ThroughGateway'
  if (around.isReplicated) return 'Replicated'
  if (transportOf(protocol) !== 'tcp') return 'OnlyHere'
  if (around.elects) return 'LedBack'
  return around.secondChanceSeconds === 0 ? 'OnlyHere' : 'LedBackInTime'
}
