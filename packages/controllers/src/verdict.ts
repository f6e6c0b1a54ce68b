import type { HashedEntry } from '@spout/admission'
import type { EntryReport, LoadBalancer, LoadBalancerStatus, NodeStateEntry, Placement } from '@spout/model'
import type { Liveness } from './node-liveness.ts'

/** All that the verdict on a load balancer is worked out from. */
export interface Evidence {
  readonly loadBalancer: LoadBalancer
  readonly placement: Placement | null
  /** What the owner node shall hold. */
  readonly wanted: HashedEntry | null
  /** What the owner node said of it. */
  readonly report: EntryReport | null
  readonly ownerName: string
  readonly ownerLiveness: Liveness
}

export type Verdict = Pick<LoadBalancerStatus, 'provisioning' | 'reason' | 'message'>

/** What became of a load balancer's newest generation: nothing is called active before its node said so. */
export function verdictOn(evidence: Evidence): Verdict {
  const { loadBalancer, placement, wanted, report, ownerName, ownerLiveness } = evidence
  if (placement === null) return pending('WaitingForPlan', 'No node was chosen yet')
  // Without a network there is no member to reach: nothing is left to do until there is one.
  if (placement.reason.code === 'NoNetwork')
    return { provisioning: 'active', reason: 'NoNetwork', message: placement.reason.message }
  if (placement.ownerNodeId === null)
    return { provisioning: 'error', reason: placement.reason.code, message: placement.reason.message }
  if (wanted === null || generationOf(wanted.entry) < loadBalancer.generation)
    return pending('WaitingForPlan', 'The newest change was not planned yet')
  if (report === null || report.hash !== wanted.hash) {
    if (ownerLiveness === 'connected')
      return pending('WaitingForNode', `Node ${ownerName} has not confirmed the newest change yet`)
    return pending('NodeDisconnected', `Node ${ownerName} carries it and is not connected: what it had goes on`)
  }
  if (report.state === 'failed')
    return {
      provisioning: 'error',
      reason: report.reason ?? 'Failed',
      message: `Node ${ownerName}: ${report.message ?? 'it could not be programmed'}`,
    }
  const silent = announcedBy(wanted.entry).filter((address) => !report.announced.includes(address))
  if (silent.length > 0)
    return pending('WaitingForAnnouncement', `Node ${ownerName} does not announce ${silent.join(', ')} yet`)
  return { provisioning: 'active', reason: 'Programmed', message: `Node ${ownerName} carries it` }
}

/** The generation that an entry is made of. */
export const generationOf = (entry: NodeStateEntry): number => (entry.kind === 'load-balancer' ? entry.generation : 0)

const announcedBy = (entry: NodeStateEntry): readonly string[] =>
  entry.kind === 'load-balancer' ? entry.vips.filter((vip) => vip.announce).map((vip) => vip.address) : []

const pending = (reason: string, message: string): Verdict => ({ provisioning: 'pending', reason, message })
