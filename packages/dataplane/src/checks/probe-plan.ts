import { canonicalJson } from '@spout/model/entry-hash'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import type { CheckTarget } from '../contracts/check.ts'

/** Who wants to know about an endpoint. */
export interface ProbeSubscriber {
  readonly loadBalancerId: string
  readonly poolId: string
  readonly memberId: string
}

export interface WantedProbe {
  readonly target: CheckTarget
  readonly subscriber: ProbeSubscriber
  /** Among whose probes it counts: the project, or, of a control plane that does not tell, the tenant network. */
  readonly owner: string | number
}

/** What probes are told apart by: equal for all pools that ask the same of the same endpoint. */
export const probeKey = (target: CheckTarget): string =>
  // A ping does not look at the port, so members that differ in it alone share one.
  canonicalJson(target.spec.type === 'ping' ? { ...target, port: 0 } : target)

/**
 * The probes that a load balancer's pools ask for.
 * @param projectId of its tenant network; null where that is not known
 */
export const probesOf = (entry: LoadBalancerEntry, projectId: string | null): readonly WantedProbe[] =>
  entry.pools.flatMap(({ id: poolId, check: spec, members }) =>
    spec === null
      ? []
      : members
          .filter((member) => member !== null)
          .map((member) => ({
            target: { domain: entry.domain, address: member.checkAddress, port: member.checkPort, spec },
            subscriber: { loadBalancerId: entry.id, poolId, memberId: member.id },
            owner: projectId ?? entry.domain,
          })),
  )
