import type { MemberHealth } from '@spout/model'
import type { NodeView } from './node-view.ts'
import type { ReportDifference } from './report-difference.ts'

/** Reports of deleted members are dropped once a load balancer has this many reported members. */
const PRUNED_FROM = 64

/**
 * Merges the reports of members' health.
 * @param isMember whether the member still exists
 * @returns load balancers with a member whose health or reason changed, and the members whose health did
 */
export function mergeMembers(
  node: NodeView,
  members: readonly MemberHealth[],
  isMember: (id: string) => boolean,
): Pick<ReportDifference, 'loadBalancers' | 'health'> {
  const loadBalancers = new Set<string>()
  const health: MemberHealth[] = []
  for (const member of members) {
    const known = node.members.get(member.loadBalancerId) ?? new Map<string, MemberHealth>()
    node.members.set(member.loadBalancerId, known)
    const before = known.get(member.memberId)
    // A restarted agent knows the health, but not since when.
    known.set(member.memberId, before?.health === member.health ? { ...member, since: before.since } : member)
    if (before?.health !== member.health || before.reason !== member.reason) loadBalancers.add(member.loadBalancerId)
    if (before === undefined ? member.health === 'down' : before.health !== member.health) health.push(member)
    // Pruned whenever the number reaches a power of two, so that the cost stays low while members come and go.
    if (before === undefined && known.size >= PRUNED_FROM && (known.size & (known.size - 1)) === 0)
      for (const id of known.keys()) if (!isMember(id)) known.delete(id)
  }
  return { loadBalancers, health }
}
