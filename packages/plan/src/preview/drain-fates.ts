import type { DrainFate, Network } from '@spout/model'
import type { Service } from '@spout/model/node-state'
import { WORST_FIRST } from './connection-fates.ts'
import { DRAIN_RULES, type DrainRule, drainRuleOf } from './drain-rules.ts'

/** A load balancer with addresses that leave the node. */
export interface Leaving {
  readonly services: readonly Pick<Service, 'protocol'>[]
  readonly returnPath: Network['returnPath']
  /** Whether members see an address that the nodes share. */
  readonly isShared: boolean
}

/** What happens to open connections of these load balancers, worst first. */
export function drainFates(
  leaving: readonly Leaving[],
  around: { readonly replicates: boolean; readonly elects: boolean; readonly secondChanceSeconds: number },
): DrainFate[] {
  const counts = new Map<DrainRule, number>()
  for (const { services, returnPath, isShared } of leaving) {
    const given = { ...around, returnPath, isReplicated: around.replicates && isShared }
    for (const code of new Set(services.map((service) => drainRuleOf(service, given))))
      counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  return [...counts]
    .map(([code, loadBalancers]) => ({
      ...{ ...DRAIN_RULES[code], code, loadBalancers },
      afterSeconds: DRAIN_RULES[code].fate === 'drain' ? around.secondChanceSeconds : null,
    }))
    .sort((one, other) => WORST_FIRST.indexOf(one.fate) - WORST_FIRST.indexOf(other.fate))
}
