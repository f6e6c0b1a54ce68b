import { asksPort } from '@spout/model/check-kinds'
import { canonicalJson } from '@spout/model/entry-hash'
import type { LoadBalancerEntry, NodePool } from '@spout/model/node-state'
import type { CheckTarget } from '../contracts/check.ts'

/** The member that needs the health of an endpoint. */
export interface ProbeSubscriber {
  readonly loadBalancerId: string
  readonly poolId: string
  readonly memberId: string
}

export interface WantedProbe {
  readonly target: CheckTarget
  readonly subscriber: ProbeSubscriber
  /** The owner for the limits: the project, or the tenant network if the control plane does not tell the project. */
  readonly owner: string | number
}

/** Identifies a probe. It is equal for all pools that probe the same endpoint in the same way. */
export const probeKey = (target: CheckTarget): string =>
  // Some checks ignore the port: members that differ only in the port share their probe.
  canonicalJson(asksPort(target.spec.type) ? target : { ...target, port: 0 })

/**
 * The probes of a load balancer's pools.
 * @param projectId of its tenant network; null if not known
 */
export const probesOf = (entry: LoadBalancerEntry, projectId: string | null): readonly WantedProbe[] =>
  entry.pools.flatMap((pool) => probesOfPool(entry, projectId, pool))

/** The probes of one of them. */
export const probesOfPool = (
  { id, domain }: Pick<LoadBalancerEntry, 'id' | 'domain'>,
  projectId: string | null,
  { id: poolId, check: spec, members }: NodePool,
): readonly WantedProbe[] =>
  spec === null
    ? []
    : members
        .filter((member) => member !== null)
        .map((member) => ({
          target: { domain, address: member.checkAddress, port: member.checkPort, spec },
          subscriber: { loadBalancerId: id, poolId, memberId: member.id },
          owner: projectId ?? domain,
        }))
